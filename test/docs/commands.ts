import type { Command, Option } from 'commander';

/** The commands of a program, without those that only group others. */
function commandsOf({ commands }: Command): readonly Command[] {
  return commands.flatMap((command) => {
    const isGroup = command.commands.length > 0;
    const runs = !isGroup || command.options.length > 0 || command.registeredArguments.length > 0;
    return [...(runs ? [command] : []), ...commandsOf(command)];
  });
}

function nameOf(command: Command): string {
  return command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
}

/** What `--help` of a command prints at its end: examples, and the names of the settings that it reads. */
function endOf(command: Command): { readonly examples: string; readonly settings: readonly string[] } {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, examples = ''] = /\nExamples:\n([\s\S]*?)\n\n/.exec(help) ?? [];
  const [, settings = ''] = /\nSettings, from the environment:\n([\s\S]*)$/.exec(help) ?? [];
  return {
    examples: examples.replaceAll(/^ {2}/gm, ''),
    settings: [...settings.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name!),
  };
}

/** The command line for docs/commands.md: a table of all commands, and a section of each, from its help. */
export function commandsMarkdown(program: Command): string {
  const commands = commandsOf(program);
  const rows = commands.map((command) => {
    const name = nameOf(command);
    return `| [\`${name}\`](#${name.replaceAll(' ', '-')}) | ${cell(command.description())} |`;
  });
  return `| command | does |\n| --- | --- |\n${rows.join('\n')}\n\n${commands.map(section).join('\n')}`;
}

function section(command: Command): string {
  const help = command.createHelp();
  const row = (term: string, text: string): string => `| \`${term}\` | ${cell(text)} |`;
  const rows = [
    ...help.visibleArguments(command).map((one) => row(help.argumentTerm(one), help.argumentDescription(one))),
    ...help
      .visibleOptions(command)
      .filter(({ long }: Option) => long !== '--help')
      .map((one) => row(help.optionTerm(one), help.optionDescription(one))),
  ];
  const table = rows.length === 0 ? '' : `\n| argument or option | |\n| --- | --- |\n${rows.join('\n')}\n`;
  const { examples, settings } = endOf(command);
  const [first = '', ...rest] = command.description();
  return `## ${nameOf(command)}

${first.toUpperCase()}${rest.join('')}.

\`\`\`
${help.commandUsage(command)}
\`\`\`
${table}
\`\`\`
${examples}
\`\`\`

Settings: ${settings.map((name) => `\`${name}\``).join(', ')}.
`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
