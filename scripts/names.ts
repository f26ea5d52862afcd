import { InvalidArgumentError } from 'commander';

/** For an option that takes some of the known names, with commas. A wrong one is an error, or nothing would be done for it. */
export function namesOf(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = text.split(',');
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0)
      throw new InvalidArgumentError(`Unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
    return names;
  };
}
