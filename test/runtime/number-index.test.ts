// Finds the places of numbers in a list, and nothing for others.
import fc from 'fast-check';
import t from 'tap';
import { NumberIndex } from '../../server/runtime/number-index.ts';

const number = fc.oneof(fc.maxSafeNat(), fc.nat({ max: 20 }), fc.constantFrom(0, 2 ** 32, 2 ** 53 - 1));

t.test('finds each number where the list has it, and no other number', async () => {
  fc.assert(
    fc.property(fc.uniqueArray(number, { maxLength: 300 }), fc.array(number), (numbers, others) => {
      const index = new NumberIndex(numbers);
      return [...numbers, ...others].every((one) => index.of(one) === numbers.indexOf(one));
    }),
  );
});
