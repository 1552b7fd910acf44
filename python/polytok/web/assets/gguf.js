// Finds the end of a GGUF file's metadata, so that only the metadata is sent and not the gigabytes of tensors after it.
"use strict";
window.polytok = window.polytok || {};
(() => {
  const FIRST_SLICE = 1 << 20;
  const LARGEST = 512 << 20;
  const SIZES = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
  const STRING = 8;
  const ARRAY = 9;

  class TooShort extends Error {}

  class Reader {
    constructor(buffer) {
      this.view = new DataView(buffer);
      this.at = 0;
      // Version 3 can be big-endian; then the low bytes of the version are zero.
      this.isLittle = (this.view.getUint32(4, true) & 0xffff) !== 0;
    }
    skip(bytes) {
      this.at += bytes;
      if (this.at > this.view.byteLength) throw new TooShort();
    }
    u32() { this.skip(4); return this.view.getUint32(this.at - 4, this.isLittle); }
    u64() { this.skip(8); return Number(this.view.getBigUint64(this.at - 8, this.isLittle)); }
    string() { this.skip(this.u64()); }
    value(type) {
      if (type === STRING) this.string();
      else if (type === ARRAY) this.array();
      else if (type in SIZES) this.skip(SIZES[type]);
      else throw new Error(`the file has a value of the unknown type ${type}`);
    }
    array() {
      const type = this.u32();
      const length = this.u64();
      if (type in SIZES) this.skip(SIZES[type] * length);
      else if (type === STRING) for (let i = 0; i < length; i++) this.string();
      else throw new Error("the file has an array of arrays");
    }
    end() {
      this.skip(8);
      this.u64();
      const keys = this.u64();
      for (let i = 0; i < keys; i++) { this.string(); this.value(this.u32()); }
      return this.at;
    }
  }

  // The part of a file to send: of a GGUF file the header and the metadata, of any other file everything.
  async function neededPart(file) {
    const magic = new Uint8Array(await file.slice(0, 4).arrayBuffer());
    if (String.fromCharCode(...magic) !== "GGUF" || file.size < 24) return file;
    for (let size = FIRST_SLICE; ; size *= 4) {
      try {
        return file.slice(0, new Reader(await file.slice(0, size).arrayBuffer()).end());
      } catch (error) {
        if (!(error instanceof TooShort)) throw error;
        if (size >= file.size) return file.slice(0, LARGEST);
        if (size > LARGEST) throw new Error("the metadata of this GGUF file is too long");
      }
    }
  }

  Object.assign(window.polytok, { neededPart });
})();
