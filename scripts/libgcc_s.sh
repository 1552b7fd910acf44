#!/usr/bin/env bash
# Writes a libgcc_s.so.1 that has only the names of the functions which unwind stacks, and prints its path.
#
#   scripts/libgcc_s.sh x86_64 target/wheel-tools python -m ziglang
#
# A library that zig links has an unwinder of its own, that of LLVM. But pthread_exit of glibc, by which Python before
# 3.14 ends the daemon threads of a program that ends, unwinds with libgcc. A stack that two unwinders work on crashes the
# process. So a wheel is linked with this file, and uses the libgcc_s.so.1 of the machine on which it runs; pthread_exit
# needs it as well. The versions are those of GCC's file libgcc-std.ver.
set -euo pipefail

folder=$2/libgcc_s-$1
mkdir -p "$folder"
cd "$folder"
{
    echo "GCC_3.0 { global: _Unwind_DeleteException; _Unwind_ForcedUnwind; _Unwind_GetDataRelBase; _Unwind_GetGR;"
    echo "  _Unwind_GetIP; _Unwind_GetLanguageSpecificData; _Unwind_GetRegionStart; _Unwind_GetTextRelBase;"
    echo "  _Unwind_RaiseException; _Unwind_Resume; _Unwind_SetGR; _Unwind_SetIP; };"
    echo "GCC_3.3 { global: _Unwind_Backtrace; _Unwind_FindEnclosingFunction; _Unwind_GetCFA;"
    echo "  _Unwind_Resume_or_Rethrow; } GCC_3.0;"
    echo "GCC_4.2.0 { global: _Unwind_GetIPInfo; } GCC_3.3;"
} >versions
grep -o '_Unwind_[A-Za-z_]*' versions | sed 's/.*/void &(void) {}/' >names.c
"${@:3}" cc -target "$1-linux-gnu" -shared -nostdlib -Wl,-soname,libgcc_s.so.1 -Wl,--version-script=versions names.c -o libgcc_s.so.1
echo "$PWD/libgcc_s.so.1"
