import { stepUp } from './benjamini-hochberg.ts';
import { testCtr } from './ctr.ts';
import { ctrFindings } from './ctr-findings.ts';
import { testDecay } from './decay.ts';
import { decayFindings } from './decay-findings.ts';
import type { Family, Found, KindRows, RowFinding } from './finding.ts';
import { moveFindings } from './move-findings.ts';
import { testMoves } from './moves.ts';
import { nearTopFindings } from './near-top-findings.ts';
import { lostFindings, newFindings } from './presence-findings.ts';

/** What is known well enough to test. */
export interface Testable {
  readonly ctr: boolean;
  readonly nearTop: boolean;
  readonly moves: boolean;
  readonly decay: boolean;
  readonly presence: boolean;
}

/** Tests all rows of a project. */
export function* findAll(kinds: readonly KindRows[], can: Testable): Generator<void, Found> {
  const found: Found = new Map();
  const add = (family: Family, more: readonly RowFinding[], tested = more.length): void => {
    const known = found.get(family) ?? { tested: 0, findings: [] };
    found.set(family, { tested: known.tested + tested, findings: [...known.findings, ...more] });
  };
  for (const rows of kinds) {
    const { kind, grids } = rows;
    if (can.ctr) {
      const tests = yield* testCtr(grids.range(rows.stratum));
      if (tests.rows.length > 0) add('ctr', ctrFindings(rows, tests));
      const near = kind === 'query' && can.nearTop ? yield* nearTopFindings(rows, tests) : null;
      if (near !== null) add('nearTop', near.findings, near.tested);
    }
    if (can.moves) {
      const tests = yield* testMoves(grids.windowRows());
      if (tests !== null) add('moves', moveFindings(rows, tests));
    }
    if (kind === 'page' && can.decay) {
      const tests = yield* testDecay(grids.weekClicks);
      if (tests !== null) add('decay', decayFindings(rows, tests));
    }
    if (kind === 'query' && can.presence) {
      add('lost', yield* lostFindings(rows));
      add('new', yield* newFindings(rows));
    }
  }
  return found;
}

/** The step-up p of each finding of a family, in the same order. */
export function adjustedOf(findings: readonly RowFinding[]): Float64Array {
  return stepUp(Float64Array.from(findings, ({ p }) => p ?? 1));
}
