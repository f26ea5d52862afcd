import { ctrTests, testCtr } from './ctr.ts';
import { decayTests, testDecay } from './decay.ts';
import type { Family, Found, KindRows, RowFinding, RowTests, Tests } from './finding.ts';
import { moveTests, testMoves } from './moves.ts';
import { nearTopFindings } from './near-top.ts';
import { lostTests, newTests } from './presence.ts';
import { stepUp } from './statistics.ts';

/** What is known well enough to test. */
export interface Testable {
  readonly ctr: boolean;
  readonly nearTop: boolean;
  readonly moves: boolean;
  readonly decay: boolean;
  readonly presence: boolean;
}

/** Tests the rows of one kind. */
export function* testKind(rows: KindRows, can: Testable): Generator<void, Found> {
  const found = new Map<Family, Tests>();
  const add = (family: Family, tests: RowTests): void => {
    found.set(family, { tested: tests.p.length, tests: [tests], list: [] });
  };
  const { kind, grids } = rows;
  if (can.ctr) {
    const tests = yield* testCtr(grids.range(rows.stratum));
    if (tests.rows.length > 0) add('ctr', ctrTests(rows, tests));
    const near = kind === 'query' && can.nearTop ? yield* nearTopFindings(rows, tests) : null;
    if (near !== null) found.set('nearTop', near);
  }
  if (can.moves) {
    const tests = yield* testMoves(grids.windowRows());
    if (tests !== null) add('moves', moveTests(rows, tests));
  }
  if (kind === 'page' && can.decay) {
    const tests = yield* testDecay(grids.weekClicks);
    if (tests !== null) add('decay', decayTests(rows, tests));
  }
  if (kind === 'query' && can.presence) {
    add('lost', yield* lostTests(rows));
    add('new', yield* newTests(rows));
  }
  return found;
}

/** The tests of several kinds of rows as those of one family each. */
export function together(all: readonly Found[]): Found {
  const found = new Map<Family, Tests>();
  for (const one of all) {
    for (const [family, { tested, tests, list }] of one) {
      const known = found.get(family) ?? { tested: 0, tests: [], list: [] };
      found.set(family, {
        tested: known.tested + tested,
        tests: [...known.tests, ...tests],
        list: [...known.list, ...list],
      });
    }
  }
  return found;
}

/** A finding with its step-up p; null in lists. */
export type JudgedFinding = RowFinding & { readonly adjusted: number | null };

/** The findings of a family whose step-up p is at most `most`, and what it lists without a test. */
export function* listedFindings({ tests, list }: Tests, most: number): Generator<void, JudgedFinding[]> {
  const listed: JudgedFinding[] = list.map((one) => ({ ...one, adjusted: null }));
  const adjusted = stepUp(tests.map(({ p }) => p));
  yield;
  for (const [index, { p, findingOf }] of tests.entries()) {
    for (let at = 0; at < p.length; at++) {
      if (adjusted[index]![at]! > most) continue;
      listed.push({ ...findingOf(at), adjusted: adjusted[index]![at]! });
      yield;
    }
  }
  return listed;
}
