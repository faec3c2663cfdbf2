import { describe, expect, it } from 'vitest';
import { answer } from '../../../src/cli/commands/local/complete-words.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';

describe('words that a shell completes without a gateway', () => {
  it.each([
    [['--', 'vali'], ['validate']],
    [['vali'], ['validate']],
    [['--', 'models', 'ex'], ['explain']],
    [['models', 'ex'], ['explain']],
    [['--', 'nothing-of-that-name'], []],
  ])('are of %j: %j', (words, found) => {
    expect(answer(words, COMMANDS)).toEqual({ data: found, text: found.join('\n') });
  });

  it('are left to those who know the names of objects', () => {
    expect(answer(['--', 'models', 'get', ''], COMMANDS)).toBeUndefined();
    expect(answer(['models', 'get', ''], COMMANDS)).toBeUndefined();
  });
});
