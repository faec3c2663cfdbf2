import { describe, expect, it } from 'vitest';
import { onlyHere } from '../../../src/config/actual/pinned.ts';

describe('what only this gateway has', () => {
  it('is told of versions that are not the latest, and of uploads', () => {
    const skills = [{ type: 'custom', skill_id: '${ref:skill.s.id}', version: 'skillver_1' }];
    const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
    const tree = {
      version: 1,
      namespace: 'n',
      agents: [
        { name: 'a', skills },
        { name: 'b', skills: [{ skill_id: 'x' }] },
      ],
      services: [
        { name: 's', agent_version: '2' },
        { name: 't', runtime: { skills } },
      ],
      deployments: [
        {
          name: 'd',
          agent_version: 3,
          agent_config: { skills },
          initial_events: [{ type: 'user.message', content: [file] }],
        },
      ],
    };
    expect(onlyHere(tree).map((text) => text.replace(/, which.*/, ''))).toEqual([
      'a names version skillver_1 of a Skill',
      's names version 2 of its Agent',
      't names version skillver_1 of a Skill',
      'd names version 3 of its Agent',
      'd names version skillver_1 of a Skill',
      'd names the file file_1',
    ]);
  });
});
