import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 560;
const HEIGHT = 120;
const GAP = 4;
/** White for all programs for mail, lines of the grid, bars. */
const COLOURS = [255, 255, 255, 229, 231, 235, 37, 99, 235];
const LINE = 1;
const BAR = 2;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Bars of values as a PNG, the highest one over the whole height. */
export function barChart(values: readonly number[]): Buffer {
  // Each line begins with the number of its filter, which is none.
  const stride = WIDTH + 1;
  const pixels = Buffer.alloc(stride * HEIGHT);
  const fill = (x: number, y: number, width: number, height: number, colour: number) => {
    for (let row = y; row < y + height; row++) {
      const at = row * stride + 1 + x;
      pixels.fill(colour, at, at + width);
    }
  };
  for (const part of [0, 0.5, 1]) fill(0, Math.round(part * (HEIGHT - 1)), WIDTH, 1, LINE);
  const highest = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length);
  for (const [index, value] of values.entries()) {
    const x = Math.round(index * step) + GAP / 2;
    const width = Math.max(1, Math.round((index + 1) * step) - GAP / 2 - x);
    const height = Math.round((value / highest) * HEIGHT);
    fill(x, HEIGHT - height, width, height, BAR);
  }
  return pngOf(pixels);
}

/** A picture of one byte for each pixel, the index of its colour. */
function pngOf(pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  // 8 bits, colours by a palette; the usual compression, filter, and order of lines.
  header.set([8, 3, 0, 0, 0], 8);
  const parts = [
    ['IHDR', header],
    ['PLTE', Buffer.from(COLOURS)],
    ['IDAT', deflateSync(pixels)],
    ['IEND', Buffer.alloc(0)],
  ] as const;
  return Buffer.concat([SIGNATURE, ...parts.map(([type, data]) => chunkOf(type, data))]);
}

/** Length, type, data, and a checksum of type and data. */
function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
