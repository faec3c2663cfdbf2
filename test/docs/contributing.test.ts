import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { verifies } from '../requirements.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');
const { scripts, engines } = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  engines: { node: string };
};

interface Workflow {
  jobs: Record<
    string,
    { strategy?: { matrix: { node: number[] } }; 'runs-on': string; steps: { run?: string }[] }
  >;
}

describe('what contributors are given', () => {
  it.each(['CONTRIBUTING.md', 'SECURITY.md', '.github/pull_request_template.md'])(
    verifies('loop.contributing', '%s names only commands and files that there are'),
    (page) => {
      const text = read(page);
      const named = [...text.matchAll(/\bnpm (?:run )?([\w:]+)/g)]
        .map(([, name]) => name as string)
        .filter((name) => !['ci', 'audit', 'install'].includes(name));
      expect(named.filter((name) => !(name in scripts))).toEqual([]);
      const files = [...text.matchAll(/`((?:test|scripts|docs|src|\.ci)\/[\w./-]+)`/g)].map(
        ([, file]) => file as string,
      );
      expect(files.filter((file) => !existsSync(pathOf(file)))).toEqual([]);
    },
  );

  it(verifies('loop.contributing', 'CI calls .ci/run on the supported Node.js releases'), () => {
    const { jobs } = parse(read('.github/workflows/ci.yml')) as Workflow;
    const whole = Object.values(jobs).find(({ steps }) =>
      steps.some(({ run }) => run === 'bash .ci/run'),
    );
    expect(whole?.strategy?.matrix.node).toEqual([20, 22, 24]);
    expect(engines.node).toMatch(/^>=20\./);
    const quick = Object.values(jobs).find((job) => job['runs-on'].startsWith('macos'));
    expect(quick?.steps.some(({ run }) => run?.includes('npm test'))).toBe(true);
  });
});
