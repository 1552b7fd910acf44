#!/usr/bin/env bash
# Builds the source distribution, in the folder dist/. It contains the sources of all crates, so that installing it needs
# a Rust compiler but no network:
#
#   pip install --no-index --find-links FOLDER polytok-VERSION.tar.gz
#
# where FOLDER has the wheels of maturin and of the packages in `dependencies` of pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=target/wheel-tools
[ -d "$tools" ] || "${PYTHON:-python3}" -m venv "$tools"
bin=$tools/bin
"$bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' 'twine>=6'

folder=$PWD/target/sdist
rm -rf "$folder"
"$bin/maturin" sdist --out "$folder"
tar -xzf "$folder"/polytok-*.tar.gz -C "$folder"
source=$(echo "$folder"/polytok-*/)
rm "$folder"/polytok-*.tar.gz

# The archive lacks polytok-c, which polytok does not need, so cargo removes the crates that only polytok-c needs from the
# lock file. After that, the lock file names exactly the crates that are added, with the checksums that cargo compares.
(cd "$source" && cargo metadata --format-version 1 >/dev/null)
mkdir -p "$source/.cargo"
(cd "$source" && cargo vendor --quiet --locked --versioned-dirs vendor >/dev/null)
cat >"$source/.cargo/config.toml" <<'END'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"
END
# Cargo must find every crate there: the new home folder has none, and no network is used.
mkdir "$folder/home"
(cd "$source" && CARGO_HOME="$folder/home" cargo metadata --locked --offline --format-version 1 >/dev/null)

mkdir -p dist
archive=dist/$(basename "$source").tar.gz
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" \
    -C "$folder" -czf "$archive" "$(basename "$source")"
"$bin/python" -m twine check --strict "$archive"
echo "$archive: $(wc -c <"$archive") bytes"
