import { factsOf, type Collection, type PlainVerb } from '../../core/kinds.ts';
import type { CommandSpec, ExampleSpec } from '../command.ts';
import type { ChangeVerb } from '../resources/plain-commands.ts';
import { ID, IGNORE_NOT_FOUND, ORGANIZATION } from './shared-words.ts';
import { createCommand, updateCommand, withArticle } from './write-commands.ts';

/** Plain verbs but for those that write fields. */
type ReadOrChange = Exclude<PlainVerb, 'create' | 'update'>;

/** Members of a command that do not follow from its kind; each takes the place of one that does. */
type Own = Partial<Omit<CommandSpec, 'name' | 'load'>> & Pick<CommandSpec, 'examples'>;

export const ARCHIVED = {
  name: 'archived',
  type: 'boolean',
  description: 'Include archived ones',
} as const;

/** Command that lists, shows, changes or ends objects of a kind. */
export function plainCommand(kind: Collection, verb: ReadOrChange, own: Own): CommandSpec {
  const name = `${kind} ${verb}`;
  if (verb === 'list') {
    const { isOwned, verbs } = factsOf(kind);
    return {
      name,
      aliases: ['ls'],
      summary: `List ${pluralOf(kind)}`,
      flags: [...(isOwned ? [ORGANIZATION] : []), ...(verbs.includes('archive') ? [ARCHIVED] : [])],
      load: async () => {
        const { listCommand } = await import('../resources/list-resources.ts');
        return { run: listCommand(kind) };
      },
      ...own,
    };
  }
  return {
    name,
    ...(verb === 'delete' && { aliases: ['rm'] }),
    summary: summaryOf(kind, verb),
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: async () => {
      const { changeCommand, getCommand } = await import('../resources/plain-commands.ts');
      return { run: verb === 'get' ? getCommand(kind) : changeCommand(kind, verb) };
    },
    ...own,
  };
}

/** The group, then every plain command of a kind that has no table of its own. */
export function kindCommands(kind: Collection): readonly CommandSpec[] {
  const { verbs } = factsOf(kind);
  const group: CommandSpec = {
    name: kind,
    summary: `Manage ${pluralOf(kind)}`,
    examples: [{ command: `gateway ${kind} list`, note: 'All of them' }],
  };
  return [group, ...verbs.map((verb) => kindCommand(kind, verb))];
}

function kindCommand(kind: Collection, verb: PlainVerb): CommandSpec {
  const example = (words: string, note: string): ExampleSpec[] => [
    { command: `gateway ${kind} ${words}`, note },
  ];
  if (verb === 'list')
    return plainCommand(kind, verb, { examples: example('list', 'All of them') });
  if (verb === 'create')
    return createCommand({ kind, create: example('create first -f fields.yaml', 'From a file') });
  if (verb === 'update')
    return updateCommand({ kind, update: example('update first --label team=core', 'A label') });
  return plainCommand(kind, verb, { examples: example(`${verb} first`, 'By its name') });
}

function summaryOf(kind: Collection, verb: Exclude<ChangeVerb, 'list'> | 'get'): string {
  const { word } = factsOf(kind);
  if (verb === 'get') return `Show one ${word}`;
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${withArticle(word)}`;
}

/** `Agents`, `providers`. */
function pluralOf(kind: Collection): string {
  const { word } = factsOf(kind);
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}
