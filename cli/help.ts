import { type Command, Help, type Option } from 'commander';

const standard = new Help();

/** Help of all commands: required options are part of the usage and are marked in the list of options. */
export const HELP = {
  commandUsage(command: Command): string {
    const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
    return standard.commandUsage(command).replace('[options]', () => [...required, '[options]'].join(' '));
  },
  optionDescription(option: Option): string {
    return standard.optionDescription(option) + (option.mandatory ? ' (required)' : '');
  },
};

/** Examples at the end of a command's help. */
export function examples(...commands: readonly string[]): string {
  return `\nExamples:\n${commands.map((command) => `  ordinate ${command}`).join('\n')}`;
}
