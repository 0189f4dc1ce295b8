//! Memory for the large tables of the search: zeroed, and in large pages where the system has
//! them. A search jumps about in its tables, and with small pages most of the jumps also miss the
//! processor's table of pages.

use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Zeroable;
use memmap2::MmapMut;

/// A slice of `count` zeroed values that lives in memory of its own.
pub struct Pages<T> {
    memory: MmapMut,
    count: usize,
    values: PhantomData<T>,
}

impl<T: Zeroable> Pages<T> {
    pub fn new(count: usize) -> io::Result<Pages<T>> {
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
        Ok(Pages {
            memory,
            count,
            values: PhantomData,
        })
    }
}

impl<T: Zeroable> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the memory is as long as `count` values, begins at a page and so is aligned, was
        // zero at first, which `Zeroable` allows, and has been written as `T` alone since.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.count) }
    }
}

impl<T: Zeroable> DerefMut for Pages<T> {
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
        let mut pages: Pages<[u64; 8]> = Pages::new(70_000).unwrap();
        assert_eq!(pages.len(), 70_000);
        assert!(pages.iter().flatten().all(|&value| value == 0));
        for (index, value) in pages.iter_mut().enumerate() {
            value[7] = index as u64;
        }
        assert!((0..70_000).all(|index| pages[index][7] == index as u64));
    }

    #[test]
    fn more_than_the_address_space_is_an_error() {
        assert!(Pages::<[u64; 8]>::new(usize::MAX).is_err());
        assert!(Pages::<[u64; 8]>::new(usize::MAX / 64).is_err());
        assert_eq!(Pages::<u64>::new(0).unwrap().len(), 0);
    }
}
