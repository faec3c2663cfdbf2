import { closestMatch } from 'leven';
import { KINDS } from '../../core/kinds.ts';
import { parentOf, shownName, type CommandSpec } from '../command.ts';
import { TOOLS } from '../connect/tools.ts';
import type { UnknownCommand } from './unknown-command.ts';

/** Words of other command lines, and the commands that do the same here. */
export const PEER_WORDS: Readonly<Record<string, readonly string[]>> = {
  up: ['start', 'dev'],
  down: ['stop'],
  proxy: ['start'],
  gateway: ['start'],
  run_server: ['start'],
  litellm: ['start', 'connect'],
  restart: ['reload', 'stop'],
  kill: ['stop'],
  ps: ['status'],
  top: ['status'],
  info: ['status', 'whoami'],
  health: ['status', 'doctor'],
  healthz: ['status', 'doctor'],
  ping: ['status', 'doctor'],
  check: ['doctor', 'validate'],
  test: ['selftest', 'validate'],
  lint: ['validate'],
  auth: ['login', 'whoami'],
  signin: ['login'],
  signout: ['logout'],
  me: ['whoami', 'account'],
  context: ['config get-contexts', 'config use-context'],
  contexts: ['config get-contexts', 'config use-context'],
  setup: ['init', 'connect'],
  configure: ['init', 'connect'],
  quickstart: ['init'],
  new: ['init'],
  install: ['init', 'plugins install'],
  deploy: ['apply'],
  rollback: ['plan', 'apply'],
  preview: ['plan'],
  import: ['adopt'],
  destroy: ['delete', 'apply'],
  approve: ['sessions allow'],
  reject: ['sessions deny'],
  permissions: ['sessions allow', 'sessions deny'],
  cancel: ['sessions interrupt', 'schedules pause'],
  events: ['sessions events', 'tail', 'logs'],
  requests: ['logs'],
  traces: ['logs'],
  log: ['logs'],
  history: ['logs', 'sessions list'],
  follow: ['tail', 'logs'],
  watch: ['tail', 'runs watch'],
  tools: ['connect', 'agents get'],
  code: ['connect claude'],
  ask: ['chat'],
  prompt: ['chat', 'run'],
  complete: ['chat'],
  completions: ['chat'],
  generate: ['chat', 'run'],
  repl: ['chat'],
  exec: ['invoke', 'trigger', 'run'],
  call: ['invoke', 'api'],
  curl: ['api'],
  request: ['api', 'logs'],
  pull: ['models list'],
  routes: ['models explain'],
  route: ['models explain'],
  cost: ['usage', 'budgets list'],
  costs: ['usage', 'budgets list'],
  spend: ['usage', 'budgets list'],
  spending: ['usage', 'budgets list'],
  billing: ['usage', 'account'],
  balance: ['account'],
  limits: ['budgets list', 'keys list'],
  token: ['keys create'],
  tokens: ['keys list'],
  'virtual-keys': ['keys list'],
  apikey: ['keys create'],
  apikeys: ['keys list'],
  teams: ['organizations list', 'keys list'],
  users: ['keys list', 'organizations list'],
  secret: ['credentials create'],
  secrets: ['credentials list'],
  cron: ['schedules list'],
  jobs: ['schedules list', 'runs list'],
  workers: ['status'],
  ui: ['console'],
  dashboard: ['console'],
  web: ['console'],
  docs: ['help'],
  man: ['help'],
  upgrade: ['version', 'prices update'],
};

/** Words for the verbs of groups, each with those that may do the same; a group has some of them. */
export const PEER_VERBS: Readonly<Record<string, readonly string[]>> = {
  describe: ['get'],
  show: ['get'],
  view: ['get'],
  inspect: ['get', 'explain'],
  read: ['get'],
  add: ['create', 'install', 'upload'],
  new: ['create'],
  make: ['create'],
  generate: ['create'],
  edit: ['update'],
  set: ['update'],
  patch: ['update'],
  change: ['update'],
  delete: ['delete', 'revoke', 'archive', 'disable', 'remove'],
  remove: ['delete', 'revoke', 'archive', 'disable', 'remove'],
  rm: ['delete', 'revoke', 'archive', 'disable', 'remove'],
  destroy: ['delete', 'revoke', 'archive'],
  block: ['revoke', 'disable'],
  stop: ['pause', 'interrupt', 'disable', 'archive'],
  suspend: ['pause', 'disable'],
  start: ['unpause', 'enable', 'watch'],
  resume: ['unpause', 'send', 'enable'],
  approve: ['allow'],
  reject: ['deny'],
  cancel: ['interrupt', 'pause', 'archive'],
  follow: ['tail', 'watch'],
  logs: ['events', 'tail'],
  regenerate: ['rotate'],
  renew: ['rotate'],
  status: ['get', 'list'],
};

/** Commands that are named at once. */
const FEW = 3;

/** The hint of an unknown command: words of peers first, then similar ones. */
export function meantHint(
  unknown: UnknownCommand,
  { commands, argv }: { commands: readonly CommandSpec[]; argv: readonly string[] },
): string | undefined {
  const { word, group } = unknown;
  const words = argv.filter((one) => !one.startsWith('-'));
  const rest = words.slice(words.indexOf(word) + 1);
  const shown = commands.filter(({ hidden }) => !hidden);
  if (unknown.isExcess) return meantText(meantOfKind(word, rest, shown));
  const found = group === '' ? meantAtTop(word, rest, shown) : meantIn(group, word, shown);
  return meantText(found) ?? nearHint(unknown, shown);
}

function meantText(found: readonly string[]): string | undefined {
  const all = [...new Set(found)].map((words) => `\`gateway ${words}\``);
  if (all.length === 0) return undefined;
  if (all.length > FEW) return `name the kind first, such as ${all.slice(0, FEW).join(', ')}`;
  const last = all.pop() ?? '';
  return `did you mean ${all.length === 0 ? last : `${all.join(', ')} or ${last}`}?`;
}

function meantAtTop(
  word: string,
  rest: readonly string[],
  commands: readonly CommandSpec[],
): readonly string[] {
  const isTool = TOOLS.some(({ name, aliases = [] }) => [name, ...aliases].includes(word));
  if (isTool) return [`connect ${word}`];
  const group = groupOf(word, commands);
  if (group !== undefined)
    return [rest[0], 'list'].flatMap((verb) => inGroup(group, verb, commands));
  const ofKind = meantOfKind(word, rest, commands);
  if (ofKind.length > 0) return ofKind;
  const peers = PEER_WORDS[word];
  if (peers !== undefined && Object.hasOwn(PEER_WORDS, word)) return peers;
  const verbs = Object.hasOwn(PEER_VERBS, word) ? (PEER_VERBS[word] ?? []) : [word];
  return verbs
    .flatMap((verb) => commands.filter(({ name }) => name.endsWith(` ${verb}`)))
    .map(({ name }) => shownName(name));
}

/** `get keys`, `describe model acme/fast`: the verb first, as kubectl has it. */
function meantOfKind(
  word: string,
  [kind = '', ...rest]: readonly string[],
  commands: readonly CommandSpec[],
): readonly string[] {
  const group = groupOf(kind, commands) ?? groupNamed(kind, commands);
  if (group === undefined) return [];
  const direct = inGroup(group, word === 'get' && rest.length === 0 ? 'list' : word, commands);
  const found = direct.length > 0 ? direct : meantIn(group, word, commands);
  return found.map((words) => [words, ...rest].join(' '));
}

function meantIn(group: string, word: string, commands: readonly CommandSpec[]): readonly string[] {
  const verbs = Object.hasOwn(PEER_VERBS, word) ? (PEER_VERBS[word] ?? []) : [];
  return verbs.flatMap((verb) => inGroup(group, verb, commands));
}

/** The command of a group that a word names, by its shown name. */
function inGroup(
  group: string,
  verb: string | undefined,
  commands: readonly CommandSpec[],
): string[] {
  const found = commands.find(({ name, aliases = [] }) => {
    if (parentOf(name) !== group || name === group) return false;
    return [name.slice(group.length + 1), ...aliases].includes(verb ?? '');
  });
  return found === undefined ? [] : [shownName(found.name)];
}

function groupNamed(word: string, commands: readonly CommandSpec[]): string | undefined {
  return commands.find(
    ({ name, aliases = [], load }) => load === undefined && [name, ...aliases].includes(word),
  )?.name;
}

/** The group of a word for one of a kind: `keys` for `key`, `deployments` for `schedule`. */
function groupOf(word: string, commands: readonly CommandSpec[]): string | undefined {
  const kind = Object.entries(KINDS).find(
    ([, facts]) => facts.name === word || facts.word.toLowerCase() === word,
  )?.[0];
  const plural = commands.find(
    ({ name, aliases = [] }) =>
      parentOf(name) === '' &&
      [name, ...aliases].some((one) => one !== word && one.replace(/s$/, '') === word),
  );
  return groupNamed(kind ?? plural?.name ?? '', commands);
}

/** What the parser found alike, where it is really near. */
function nearHint(
  { word, group }: UnknownCommand,
  commands: readonly CommandSpec[],
): string | undefined {
  const siblings = commands
    .filter(({ name }) => parentOf(name) === group && name !== group)
    .flatMap(({ name, aliases = [] }) => [shownName(name).split(' ').at(-1) ?? '', ...aliases]);
  const maxDistance = Math.max(1, Math.floor(word.length / 3));
  const near = closestMatch(word, siblings, { maxDistance });
  return near === undefined ? undefined : `Did you mean ${near}?`;
}
