# Plays:  docker run -i finch
# Tunes:  docker run -v "$PWD/runs:/home/finch/runs" finch tune
FROM rust:1.95-slim-trixie AS build
WORKDIR /finch
COPY . .
# Runs on any x86-64 processor since about 2009; other processors take their own default.
RUN if [ "$(uname -m)" = x86_64 ]; then export RUSTFLAGS="-C target-cpu=x86-64-v2"; else export RUSTFLAGS=" "; fi \
    && cargo build --release --locked \
    && mkdir -p /share/man/man1 /share/bash-completion/completions \
    && target/release/finch man /share/man/man1 \
    && target/release/finch completions bash > /share/bash-completion/completions/finch

FROM debian:trixie-slim
COPY --from=build /finch/target/release/finch /usr/local/bin/finch
COPY --from=build /share /usr/local/share
RUN useradd --create-home finch
USER finch
WORKDIR /home/finch
ENTRYPOINT ["finch"]
