import { describe, expect, it } from 'vitest';
import {
  addQuestion,
  answersOf,
  toQuestionEvents,
} from '../../../src/runtime/turn/elicitations.ts';
import type { ToolUse } from '../../../src/runtime/tools/tool-use.ts';

describe('the questions of a server about a call', () => {
  it('have what continues the call in the log once, and give it back with all answers', () => {
    const use: ToolUse = {
      id: 'sevt_use',
      kind: 'mcp',
      name: 'tailor',
      server: 'shop',
      input: {},
      permission: 'allow',
      verdict: undefined,
      result: undefined,
    };
    const ask = (round: string, keys: readonly string[]): void => {
      const questions = keys.map((key) => ({ key, message: key, schema: {} }));
      const events = toQuestionEvents(use, { questions, resume: `state of ${round}` });
      expect(JSON.stringify(events).split(`state of ${round}`)).toHaveLength(2);
      events.forEach((event, index) =>
        addQuestion(use, { ...event, id: `${round}${index}`, processed_at: '' }),
      );
    };
    expect(answersOf(use)).toBeUndefined();
    for (const [round, keys] of [
      ['one', ['size', 'colour']],
      ['two', ['lining', 'buttons']],
    ] as const) {
      ask(round, keys);
      for (const question of use.questions ?? []) question.result = { content: [], isError: true };
      const responses = keys.map((key) => [key, { action: 'decline' }]);
      expect(answersOf(use)).toEqual({
        responses: Object.fromEntries(responses) as object,
        resume: `state of ${round}`,
      });
    }
  });
});
