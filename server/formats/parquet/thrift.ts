/** Types of Thrift's compact protocol. */
const TRUE = 1;
const FALSE = 2;
const I8 = 3;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/** Writes the fields of one struct of Thrift's compact protocol, in the order of their ids. Undefined fields are left out. */
export class ThriftStruct {
  readonly #bytes: number[] = [];
  #last = 0;

  boolean(id: number, value: boolean): this {
    return this.#field(id, value ? TRUE : FALSE);
  }

  i8(id: number, value: number): this {
    this.#field(id, I8).#bytes.push(value);
    return this;
  }

  i32(id: number, value: number | undefined): this {
    return value === undefined ? this : this.#field(id, I32).#varint(zigzag(value));
  }

  /** Exact up to 2^52. */
  i64(id: number, value: number | undefined): this {
    return value === undefined ? this : this.#field(id, I64).#varint(zigzag(value));
  }

  binary(id: number, value: string | Uint8Array | undefined): this {
    return value === undefined ? this : this.#field(id, BINARY).#binary(value);
  }

  struct(id: number, value: ThriftStruct | undefined): this {
    return value === undefined ? this : this.#field(id, STRUCT).#struct(value);
  }

  i32s(id: number, values: readonly number[]): this {
    this.#field(id, LIST).#list(values.length, I32);
    for (const value of values) this.#varint(zigzag(value));
    return this;
  }

  texts(id: number, values: readonly string[]): this {
    this.#field(id, LIST).#list(values.length, BINARY);
    for (const value of values) this.#binary(value);
    return this;
  }

  structs(id: number, values: readonly ThriftStruct[] | undefined): this {
    if (values === undefined) return this;
    this.#field(id, LIST).#list(values.length, STRUCT);
    for (const value of values) this.#struct(value);
    return this;
  }

  /** The struct with its end. */
  bytes(): Buffer {
    return Buffer.from([...this.#bytes, 0]);
  }

  #field(id: number, type: number): this {
    const delta = id - this.#last;
    if (delta < 1 || delta > 15) throw new RangeError(`field ${id} cannot follow field ${this.#last}`);
    this.#last = id;
    this.#bytes.push((delta << 4) | type);
    return this;
  }

  #list(length: number, type: number): void {
    if (length < 15) this.#bytes.push((length << 4) | type);
    else {
      this.#bytes.push(0xf0 | type);
      this.#varint(length);
    }
  }

  #struct(value: ThriftStruct): this {
    for (const byte of value.#bytes) this.#bytes.push(byte);
    this.#bytes.push(0);
    return this;
  }

  #binary(value: string | Uint8Array): this {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    this.#varint(bytes.length);
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  #varint(value: number): this {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push(128 | (rest % 128));
    this.#bytes.push(rest);
    return this;
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}
