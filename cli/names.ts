import { InvalidArgumentError } from 'commander';

/** Parses an option with comma-separated names. Throws for unknown names, which would otherwise be ignored. */
export function namesOf(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = text.split(',');
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0)
      throw new InvalidArgumentError(`Unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
    return names;
  };
}
