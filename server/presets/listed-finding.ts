import type { Day } from '../domain/dates.ts';
import type { FindingType, Gain } from '../findings/finding.ts';

/** The numbers that the text of a finding quotes; those of other types are left out. */
export interface FindingEvidence {
  readonly clicks?: number;
  readonly clicksBefore?: number;
  readonly expectedClicks?: number;
  readonly impressions?: number;
  readonly impressionsBefore?: number;
  readonly expectedImpressions?: number;
  readonly ctr?: number;
  readonly expectedCtr?: number;
  readonly position?: number;
  readonly betterPosition?: number;
  readonly weeklyChange?: number;
  readonly change?: number;
  readonly shownDays?: number;
  readonly mainPageChanges?: number;
  readonly pages?: readonly string[];
  readonly pageImpressions?: readonly number[];
}

export interface Finding {
  readonly type: FindingType;
  readonly page?: string;
  readonly query?: string;
  readonly evidence: FindingEvidence;
  readonly gain: Gain | null;
  readonly p: number | null;
  readonly adjusted: number | null;
  readonly since: Day | null;
  readonly text: string;
}

/** What the text of a finding is made of: its numbers are not rounded. */
export type ExactFinding = Omit<Finding, 'text' | 'p' | 'adjusted'>;
