import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../readme.ts';

/** One step of a Dockerfile. */
interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  /** Its name after AS, or an empty text. */
  readonly name: string;
  readonly steps: readonly Instruction[];
}

/** The stages of the Dockerfile: comments are left out, continued lines are joined. */
export function readStages(): Stage[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').replaceAll(/^#.*\n/gm, '');
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  const stages: (Stage & { steps: Instruction[] })[] = [];
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`The Dockerfile has a line that is no instruction: ${line}`);
    const [, image = '', stage = ''] = /^(\S+)(?: AS (\w+))?$/.exec(rest) ?? [];
    if (name === 'FROM') stages.push({ image, name: stage, steps: [] });
    else stages.at(-1)!.steps.push({ name, text: rest });
  }
  return stages;
}

/** The text of each instruction of this name. */
export function textsOf({ steps }: Stage, name: string): string[] {
  return steps.filter((step) => step.name === name).map(({ text }) => text);
}

/** What a COPY copies, from which stage, and where to. */
export function readCopy(text: string): { from: string | undefined; sources: string[]; target: string } {
  const words = text.split(' ');
  const from = words[0]!.startsWith('--from=') ? words.shift()!.slice('--from='.length) : undefined;
  const target = words.pop()!;
  return { from, sources: words, target };
}

/** `NAME=value` pairs of an ENV. */
export function readEnvironment(stage: Stage): Record<string, string> {
  const pairs = textsOf(stage, 'ENV').flatMap((text) => text.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

/** The words of an instruction in exec form. */
export function readWords(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}

/** What the builder gets: the entries that .dockerignore lets through. */
export function readContext(): { sent: string[]; kept: string[] } {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return {
    sent: lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)),
    kept: lines.filter((line) => !line.startsWith('!')),
  };
}
