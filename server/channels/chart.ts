import { PNG } from 'pngjs';

const WIDTH = 560;
const HEIGHT = 120;
const BAR = [37, 99, 235] as const;
const LINE = [229, 231, 235] as const;
const GAP = 4;

/** Bars of values as a PNG, the highest one over the whole height, on white for all programs for mail. */
export function barChart(values: readonly number[]): Buffer {
  const png = new PNG({ width: WIDTH, height: HEIGHT, colorType: 2 });
  png.data.fill(255);
  const fill = (x: number, y: number, width: number, height: number, [r, g, b]: readonly [number, number, number]) => {
    for (let row = y; row < y + height; row++) {
      for (let column = x; column < x + width; column++) png.data.set([r, g, b], 4 * (row * WIDTH + column));
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
  return PNG.sync.write(png, { colorType: 2 });
}
