/** What `npm test` leaves out; files that are named run whole, and so does `npm run test:night`. */
export const isNight: boolean = process.env['TEST_SUITE'] !== 'change';

/** For tests that kill, soak or measure processes for long: a shorter test of each promise runs for every change. */
export const atNight: { readonly skip?: string } = isNight ? {} : { skip: 'npm run test:night runs it' };
