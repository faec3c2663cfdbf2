import { filesOf } from '../../resources/files/message-files.ts';
import type { ActualState } from './actual.ts';
import { isRecord } from '../objects/record.ts';

/** A configuration in the order of its sections, ready to be written as YAML. */
export type DumpedTree = Record<string, unknown>;

/** Skills without the version that they would get anyway: another gateway has versions of its own. */
export function withoutLatest(field: string, value: unknown, { skill }: ActualState): unknown {
  const unpinned = (named: unknown): unknown => {
    if (!isRecord(named)) return named;
    const { version, ...rest } = named;
    const latest = skill.find(({ id }) => id === named['skill_id'])?.['latest_version_id'];
    return version === latest ? rest : named;
  };
  if (field === 'skills') return Array.isArray(value) ? value.map(unpinned) : value;
  const isAgent = field === 'runtime' || field === 'agent_config';
  if (!isAgent || !isRecord(value) || !Array.isArray(value['skills'])) return value;
  return { ...value, skills: value['skills'].map(unpinned) };
}

/**
 * Sentences about what a dump names and no other gateway has; it can only be applied where it is
 * from.
 */
export function onlyHere(tree: DumpedTree): string[] {
  return Object.values(tree)
    .flatMap((section) => (Array.isArray(section) ? section.filter(isRecord) : []))
    .flatMap((entry) => {
      const { name, id, agent_version: version, initial_events: events } = entry;
      const found = [
        ...textsOf([id]).map((one) => `the id ${one}`),
        ...textsOf([version]).map((one) => `version ${one} of its Agent`),
        ...pinnedSkills(entry).map((one) => `version ${one} of a Skill`),
        ...[...filesOf(Array.isArray(events) ? events : [], '').keys()].map(
          (id) => `the file ${id}`,
        ),
      ];
      const whose = textsOf([name])[0] ?? '';
      return found.map((what) => `${whose} names ${what}, which does not exist on another gateway`);
    });
}

function pinnedSkills({ skills, runtime, agent_config: config }: Record<string, unknown>) {
  const lists = [
    skills,
    isRecord(runtime) && runtime['skills'],
    isRecord(config) && config['skills'],
  ];
  const named = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []));
  return textsOf(named.map(({ version }) => version));
}

function textsOf(values: readonly unknown[]): string[] {
  return values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' ? [`${value}`] : [],
  );
}
