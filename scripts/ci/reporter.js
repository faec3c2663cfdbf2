// A reporter of vitest that writes what the verdict of a run needs, as JSON, to the file that
// TEST_RESULTS names: per file its seconds (loading included), tests and errors.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

const MAX_REASON = 2_000;

export default class ResultsReporter {
  #root = process.cwd();

  onInit(vitest) {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules, unhandled) {
    const files = modules.map((module) => this.#fileOf(module));
    const errors = unhandled.map((error) => ({
      file: error.VITEST_TEST_PATH && relative(this.#root, error.VITEST_TEST_PATH),
      reason: reasonOf(error),
    }));
    const path = process.env.TEST_RESULTS;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ files, errors }));
  }

  #fileOf(module) {
    const { collectDuration, setupDuration, prepareDuration, duration } = module.diagnostic();
    return {
      file: relative(this.#root, module.moduleId),
      // A worker that ended in the middle leaves its file pending.
      passed: module.ok() && module.state() !== 'pending' && module.state() !== 'queued',
      seconds: (collectDuration + setupDuration + prepareDuration + duration) / 1_000,
      errors: module.errors().map(reasonOf),
      tests: [...module.children.allTests()].map((test) => ({
        name: test.fullName,
        state: test.result().state,
        seconds: (test.diagnostic()?.duration ?? 0) / 1_000,
        errors: (test.result().errors ?? []).map(reasonOf),
      })),
    };
  }
}

function reasonOf({ stack, message }) {
  return String(stack || message).slice(0, MAX_REASON);
}
