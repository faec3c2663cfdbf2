import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { followWalk } from '../docs/follow-page.ts';
import { verifies } from '../requirements.ts';

const here = new URL('.', import.meta.url);
const walks = readdirSync(here).filter((one) => one.endsWith('.md'));

it(verifies('docs.walks', 'there is one for each of five people'), () => {
  expect(walks).toHaveLength(5);
});
for (const walk of walks) await followWalk(`test/walks/${walk}`);
