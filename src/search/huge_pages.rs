//! Zeroed memory for the transposition table, in huge pages where the system has them: with small
//! pages most probes would also miss the processor's TLB.

use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Zeroable;
use memmap2::MmapMut;

/// A slice of `count` zeroed values that lives in memory of its own.
pub struct HugePages<T> {
    memory: MmapMut,
    count: usize,
    values: PhantomData<T>,
}

impl<T: Zeroable> HugePages<T> {
    pub fn new(count: usize) -> io::Result<HugePages<T>> {
        const {
            assert!(!std::mem::needs_drop::<T>() && size_of::<T>() > 0);
            assert!(align_of::<T>() <= 4096, "memory begins at a page");
        }
        let bytes = count.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?.max(1);
        let memory = MmapMut::map_anon(bytes)?;
        // Advice: where it is not taken everything works all the same, only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(HugePages {
            memory,
            count,
            values: PhantomData,
        })
    }
}

impl<T: Zeroable> Deref for HugePages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the memory is as long as `count` values, begins at a page and so is aligned, was
        // zero at first, which `Zeroable` allows, and has been written as `T` alone since.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.count) }
    }
}

impl<T: Zeroable> DerefMut for HugePages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_begin_as_zeros_and_keep_what_is_written() {
        let mut huge_pages: HugePages<[u64; 8]> = HugePages::new(70_000).unwrap();
        assert_eq!(huge_pages.len(), 70_000);
        assert!(huge_pages.iter().flatten().all(|&value| value == 0));
        for (index, value) in huge_pages.iter_mut().enumerate() {
            value[7] = index as u64;
        }
        assert!((0..70_000).all(|index| huge_pages[index][7] == index as u64));
    }

    #[test]
    fn more_than_the_address_space_is_an_error() {
        assert!(HugePages::<[u64; 8]>::new(usize::MAX).is_err());
        assert!(HugePages::<[u64; 8]>::new(usize::MAX / 64).is_err());
        assert_eq!(HugePages::<u64>::new(0).unwrap().len(), 0);
    }
}
