import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { ROOT } from '../readme.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Panel {
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (file: string): string => readFileSync(join(ROOT, 'docs', file), 'utf8');

/** The alert rules and the panels of the documentation, and all their expressions. */
export const RULES = (parse(read('prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
export const PANELS = (JSON.parse(read('grafana/ordinate.json')) as { panels: Panel[] }).panels;
export const EXPRESSIONS: readonly string[] = [...RULES, ...PANELS.flatMap(({ targets = [] }) => targets)].map(
  ({ expr }) =>
    // Variables of Grafana.
    expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
);

/** A series that an expression selects. */
interface Selector {
  readonly name: string;
  /** The labels that it compares, with the value of those that must be equal. */
  readonly labels: readonly { readonly label: string; readonly equals: string | null }[];
}

/** What an expression reads. */
export interface Expression {
  readonly selectors: readonly Selector[];
  /** The labels that it groups by. */
  readonly groups: readonly string[];
}

/** Parses an expression of Prometheus. Throws if it is not one. */
export function parseExpression(text: string): Expression {
  const selectors: { name: string; labels: { label: string; equals: string | null }[] }[] = [];
  const groups: string[] = [];
  const stack: string[] = [];
  let label = '';
  let isEqual = false;
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const inner = text.slice(from, to);
      if (type.isError) throw new Error(`not an expression, from character ${from}: ${text}`);
      if (name === 'VectorSelector') selectors.push({ name: '', labels: [] });
      else if (name === 'Identifier' && stack.at(-1) === 'VectorSelector') selectors.at(-1)!.name = inner;
      else if (name === 'LabelName' && stack.at(-1) === 'GroupingLabels') groups.push(inner);
      else if (name === 'LabelName') label = inner;
      else if (stack.at(-1) === 'MatchOp') isEqual = name === 'EqlSingle';
      else if (name === 'StringLiteral') {
        selectors.at(-1)?.labels.push({ label, equals: isEqual ? inner.slice(1, -1) : null });
      }
      stack.push(name);
    },
    leave: () => void stack.pop(),
  });
  return { selectors, groups };
}
