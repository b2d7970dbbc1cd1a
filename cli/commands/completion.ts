// hookyard completion: commands and options by the Tab key.
import type { Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .description('Print a shell completion script')
    .addHelpText(
      'after',
      `
  bash  source <(hookyard completion bash)         in ~/.bashrc
  zsh   source <(hookyard completion zsh)          in ~/.zshrc, after compinit
  fish  hookyard completion fish | source          in ~/.config/fish/config.fish`,
    );
  for (const shell of SHELLS) {
    completion
      .command(shell)
      .description(`Print the completion script for ${shell}`)
      .action(() => console.log(SCRIPTS[shell](wordsOf(program))));
  }
}

/** What may follow: by the commands so far, with spaces between them, the words and what each does. */
type Words = Map<string, { word: string; about: string }[]>;

function wordsOf(program: Command): Words {
  const words: Words = new Map();
  const add = (command: Command, path: string[]) => {
    const options = [...command.options, ...(path.length === 0 ? [] : program.options)];
    words.set(path.join(' '), [
      ...command.commands.map((each) => ({ word: each.name(), about: each.description() })),
      ...options.flatMap(({ long, description }) => (long ? [{ word: long, about: description }] : [])),
      { word: '--help', about: 'Show help' },
    ]);
    for (const each of command.commands) add(each, [...path, each.name()]);
  };
  add(program, []);
  return words;
}

/** In single quotes, for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

// Words that are commands make the path; others, options and their values, are passed over.
const bash = (words: Words): string => `_hookyard() {
  local path='' word next
  local -A known=(${[...words].map(([path, next]) => `[${quoted(`_${path}`)}]=${quoted(next.map(({ word }) => word).join(' '))}`).join(' ')})
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    [[ -n "\${known[_$next]+x}" ]] && path="$next"
  done
  COMPREPLY=($(compgen -W "\${known[_$path]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hookyard hookyard`;

const zsh = (words: Words): string => `_hookyard() {
  local path_='' word next
  local -A known=(${[...words].map(([path, next]) => `${quoted(`_${path}`)} ${quoted(next.map(({ word }) => word).join(' '))}`).join(' ')})
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    next="\${path_:+$path_ }$word"
    (( \${+known[_$next]} )) && path_="$next"
  done
  compadd -- \${=known[_$path_]}
}
compdef _hookyard hookyard`;

function fish(words: Words): string {
  const lines = [...words].flatMap(([path, next]) => {
    const commands = path === '' ? [] : path.split(' ');
    const seen = commands.map((word) => `; and __fish_seen_subcommand_from ${word}`).join('');
    const below = next.filter(({ word }) => !word.startsWith('--')).map(({ word }) => word);
    const notBelow = below.length > 0 ? `; and not __fish_seen_subcommand_from ${below.join(' ')}` : '';
    return next.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c hookyard -n ${quoted(`true${seen}${notBelow}`)} ${what} -d ${quoted(about)}`;
    });
  });
  return lines.join('\n');
}

const SCRIPTS: Record<Shell, (words: Words) => string> = { bash, zsh, fish };
