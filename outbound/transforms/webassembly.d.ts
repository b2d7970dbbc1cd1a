// The two classes of WebAssembly that the sandbox uses: TypeScript declares them for browsers only.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    /** Sizes in pages of 64 KiB. */
    constructor(descriptor: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
  }
}
