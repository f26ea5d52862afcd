// Numbers and texts written as bytes equal their JSON and are never truncated.
import fc from 'fast-check';
import t from 'tap';
import { Piece, TextBytes } from '../../server/runtime/text-bytes.ts';

t.test('numbers are those of JSON', (t) => {
  const ratio = fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((value) => value / 10_000);
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const number = fc.oneof(
    finite,
    ratio,
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(-0, 2 ** 31, 1e21, 1e-7, 0.1 + 0.2),
  );
  fc.assert(
    fc.property(fc.array(number), (values) => {
      const bytes = new TextBytes(1);
      for (const value of values) {
        bytes.number(value);
        bytes.char('\n');
      }
      t.equal(bytes.take().toString(), values.map((value) => `${JSON.stringify(value)}\n`).join(''));
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('texts and bytes of any length are written whole', (t) => {
  const part = fc.string({ unit: 'binary', maxLength: 200, size: 'max' });
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const bytes = new TextBytes(1);
      for (const [index, text] of parts.entries()) {
        if (index % 2 === 0) bytes.text(text);
        else bytes.piece(new Piece(text));
      }
      t.strictSame(bytes.take(), Buffer.from(parts.join('')));
      t.equal(bytes.length, 0);
    }),
  );
  t.end();
});
