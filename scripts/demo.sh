#!/bin/sh
# Shows how polytok encodes and decodes a text in several scripts with the embedded vocabulary.
# The path of a tokenizer file can be given as the second argument.
set -eu
polytok=$1
model=${2:-default}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/text" <<'TEXT'
Hello, world! One engine for every vocabulary: 3.14159, naïve café.
吾輩は猫である。名前はまだ無い。 我是猫。还没有名字。
나는 고양이다. Я кот. أنا قطة. मैं बिल्ली हूँ। ฉันเป็นแมว
def add(a, b):
    return a + b  # 👩‍💻 🎉
TEXT
echo "$ polytok encode --to pieces   (the embedded vocabulary)"
"$polytok" encode -m "$model" --to pieces "$work/text"
echo
echo "$ polytok encode | polytok decode"
"$polytok" encode -m "$model" --to ids "$work/text" > "$work/ids"
"$polytok" decode -m "$model" "$work/ids" > "$work/back"
cmp "$work/text" "$work/back" && echo "the decoded text is the text, byte for byte"
echo
echo "$ polytok count"
"$polytok" count -m "$model" "$work/text"
