# make EXE=name [EVALFILE=network]: builds the engine as OpenBench expects, under that name and with
# that network built in. The feature openbench lists the search constants as UCI options.
EXE ?= finch
EVALFILE ?=
export EVALFILE

ifeq ($(OS),Windows_NT)
	BUILT := target/release/finch.exe
	NAME := $(EXE).exe
else
	BUILT := target/release/finch
	NAME := $(EXE)
endif

.PHONY: all test clean

all:
	cargo build --release --features openbench --target-dir target
	cp $(BUILT) $(NAME)

test:
	cargo test --release

clean:
	cargo clean
