# As OpenBench wants it: make EXE=name builds the engine under that name. The feature openbench
# lists the search constants as UCI options.
EXE ?= finch

ifeq ($(OS),Windows_NT)
	BUILT := target/release/finch.exe
	NAME := $(EXE).exe
else
	BUILT := target/release/finch
	NAME := $(EXE)
endif

.PHONY: all test clean

all:
	cargo build --release --features openbench
	cp $(BUILT) $(NAME)

test:
	cargo test --release

clean:
	cargo clean
