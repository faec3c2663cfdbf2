import { describe, expect, it } from 'vitest';
import { findCommand, otherNames, parentOf, shownName } from '../../../src/cli/command.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { TOOLS } from '../../../src/cli/connect/tools.ts';
import { PEER_VERBS, PEER_WORDS } from '../../../src/cli/grammar/meant-commands.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

const hintOf = async (...argv: string[]) => {
  const { code, stderr } = await runCli(argv);
  expect(code).toBe(64);
  return /^hint: (.*)$/m.exec(stderr)?.[1];
};

/** The words of every command, as people may write them. */
const NAMES = new Set(
  COMMANDS.flatMap((command) => [
    command.name,
    shownName(command.name),
    ...otherNames(
      command,
      COMMANDS.find(({ name }) => name === parentOf(command.name)),
    ),
  ]),
);

describe('an unknown command', () => {
  it('has words of peers that are none of ours, and lead to commands that exist', () => {
    for (const [word, meant] of Object.entries(PEER_WORDS)) {
      expect(findCommand(COMMANDS, [word]), word).toBeUndefined();
      for (const words of meant) {
        const isTool = TOOLS.some(({ name }) => words === `connect ${name}`);
        expect(isTool || NAMES.has(words), `${word}: ${words}`).toBe(true);
      }
    }
    const verbs = new Set(COMMANDS.map(({ name }) => name.split(' ').at(-1)));
    for (const [word, meant] of Object.entries(PEER_VERBS))
      for (const verb of meant) expect(verbs.has(verb), `${word}: ${verb}`).toBe(true);
  });

  it.each([
    ['up', '`gateway start` or `gateway dev`'],
    ['ps', '`gateway status`'],
    ['health', '`gateway status` or `gateway doctor`'],
    ['events', '`gateway sessions events`, `gateway tail` or `gateway logs`'],
    ['tools', '`gateway connect` or `gateway agents get`'],
    ['auth', '`gateway login` or `gateway whoami`'],
    ['approve', '`gateway sessions allow`'],
    ['litellm', '`gateway start` or `gateway connect`'],
    ['claude-code', '`gateway connect claude-code`'],
    ['codex', '`gateway connect codex`'],
    ['key', '`gateway keys list`'],
    ['key create ci', '`gateway keys create` or `gateway keys list`'],
    ['schedule', '`gateway schedules list`'],
    ['get keys', '`gateway keys list`'],
    ['get schedules', '`gateway schedules list`'],
    ['get endpoints', '`gateway services list`'],
    ['delete key ci', '`gateway keys revoke ci`'],
    ['get key ci', '`gateway keys get ci`'],
    ['describe model acme/fast', '`gateway models get acme/fast`'],
    ['create agent helper', '`gateway agents create helper`'],
    ['rm deployment report', '`gateway schedules delete report`'],
    [
      'rotate',
      '`gateway keys rotate`, `gateway credentials rotate` or `gateway webhooks secret rotate`',
    ],
    ['keys delete ci', '`gateway keys revoke`'],
    ['keys show', '`gateway keys get`'],
    ['sessions remove', '`gateway sessions delete` or `gateway sessions archive`'],
    ['schedules stop', '`gateway schedules pause` or `gateway schedules archive`'],
  ])(verifies('cli.words.peers', 'leads to what was meant: %s'), async (words, meant) => {
    expect(await hintOf(...words.split(' '))).toBe(`did you mean ${meant}?`);
  });

  it('asks for the kind where many have the verb', async () => {
    expect(await hintOf('get')).toMatch(
      /^name the kind first, such as (`gateway \w+ get`(, )?){3}$/,
    );
  });

  it.each([
    ['delete something', 'see `gateway delete --help`'],
    ['start now', 'see `gateway start --help`'],
    ['keyz', 'Did you mean keys?'],
    ['modles', 'Did you mean models?'],
    ['zz', 'see `gateway --help`'],
    ['keys zz', 'see `gateway keys --help`'],
    ['constructor', 'see `gateway --help`'],
  ])('suggests nothing that is far from it: %s', async (words, hint) => {
    expect(await hintOf(...words.split(' '))).toBe(hint);
  });
});
