import { oneLine } from '../../core/printable.ts';
import { suggest } from '../../core/suggest.ts';
import type { Conversation } from './conversation.ts';
import { readAttachment } from './read-attachment.ts';

export interface SlashContext {
  readonly conversation: Conversation;
  readonly cwd: string;
  /** Names of models that the key may call. */
  models(): Promise<readonly string[]>;
}

interface SlashCommand {
  /** Placeholder of its text; undefined takes none. */
  readonly value?: string;
  readonly help: string;
  /** Returns the line that reports the result; undefined leaves the conversation. */
  run(text: string, context: SlashContext): Promise<string | undefined>;
}

const SLASH_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  model: {
    value: '[NAME]',
    help: 'answer with another model; without a name, show which',
    async run(name, { conversation, models }) {
      if (name === '') return `the model is ${oneLine(conversation.model)}`;
      // Aliases and models of patterns are not all listed, so an unknown name is no error yet.
      const names = await models().catch((): readonly string[] => []);
      const near = names.includes(name) ? undefined : suggest(name, names);
      conversation.model = name;
      const meant = near === undefined ? '' : `; it is not listed, ${oneLine(near)}`;
      return `the model is ${oneLine(name)} now${meant}`;
    },
  },
  system: {
    value: '[TEXT]',
    help: 'set the system message; without text, remove it',
    run(text, { conversation }) {
      conversation.system = text === '' ? undefined : text;
      return Promise.resolve(`the system message is ${text === '' ? 'removed' : 'set'}`);
    },
  },
  file: {
    value: 'PATH|URL',
    help: 'send a picture, PDF, sound or text with the next message',
    async run(path, { conversation, cwd }) {
      if (path === '') return 'name the file: /file photo.png';
      conversation.attach(await readAttachment(path, cwd));
      return `${oneLine(path)} goes with the next message`;
    },
  },
  clear: {
    help: 'forget the conversation so far',
    run(_text, { conversation }) {
      conversation.clear();
      return Promise.resolve('the conversation is empty');
    },
  },
  help: { help: 'show these commands', run: () => Promise.resolve(helpText()) },
  exit: { help: 'leave, as Ctrl-D does', run: () => Promise.resolve(undefined) },
};

/**
 * Runs a line that begins with `/`.
 *
 * @returns the line that reports the result; undefined leaves the conversation
 * @throws CliError of {@link readAttachment}
 */
export function runSlashCommand(line: string, context: SlashContext): Promise<string | undefined> {
  const [, name = '', text = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined;
  if (command !== undefined) return command.run(text.trim(), context);
  const near = suggest(
    `/${name}`,
    Object.keys(SLASH_COMMANDS).map((known) => `/${known}`),
  );
  const hint = near === undefined ? '' : `; ${near}`;
  return Promise.resolve(
    `/${oneLine(name)} is no command${hint} (// sends a line that begins with /)`,
  );
}

/** Completions of a line: the commands, and the models after `/model`. */
export async function completeLine(
  line: string,
  models: SlashContext['models'],
): Promise<[string[], string]> {
  if (!line.startsWith('/')) return [[], line];
  const model = /^\/model\s+(\S*)$/.exec(line)?.[1];
  if (model !== undefined) {
    return [(await models()).filter((name) => name.startsWith(model)), model];
  }
  const commands = Object.keys(SLASH_COMMANDS).map((name) => `/${name}`);
  return [commands.filter((command) => command.startsWith(line)), line];
}

function helpText(): string {
  const words = Object.entries(SLASH_COMMANDS).map(([name, { value }]) =>
    value === undefined ? `/${name}` : `/${name} ${value}`,
  );
  const rows: [string, string][] = Object.values(SLASH_COMMANDS).map(({ help }, index) => [
    words[index] ?? '',
    help,
  ]);
  rows.push(
    ['"""', 'begin and end a message of several lines'],
    ['Ctrl-C', 'stop the answer; at the prompt, drop the line'],
  );
  const width = Math.max(...rows.map(([word]) => word.length));
  return rows.map(([word, help]) => `  ${word.padEnd(width)}  ${help}`).join('\n');
}
