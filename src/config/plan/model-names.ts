import type { ActualState } from '../actual/actual.ts';
import type { DesiredState } from '../objects/desired.ts';
import { patternsOf } from '../read/check-aliases.ts';
import { NameRules } from '../../routing/name-rules.ts';

/** Rules by which names lead to models. */
export interface ModelNames {
  readonly rules: NameRules;
  /** True for the name of a model that is declared or on the server. */
  isDeclared(name: string): boolean;
}

/** Makes the rules of names at their first use, from declared and other existing objects. */
export function createNameRules({
  desired,
  actual,
}: {
  desired: Pick<DesiredState, 'objects'>;
  actual: ActualState;
}): () => ModelNames {
  let made: ModelNames | undefined;
  const bodiesOf = (kind: 'alias' | 'provider' | 'model'): Readonly<Record<string, unknown>>[] => [
    ...actual[kind],
    ...desired.objects.filter((one) => one.kind === kind).map(({ body }) => body),
  ];
  return () => {
    if (made) return made;
    const rules = new NameRules(
      bodiesOf('alias').map(({ name, model }) => ({ name: String(name), model: String(model) })),
      bodiesOf('provider').map(({ name, models }) => ({
        name: String(name),
        patterns: patternsOf(models),
      })),
    );
    const models = new Set(bodiesOf('model').map(({ name }) => String(name)));
    return (made = { rules, isDeclared: (name) => models.has(name) });
  };
}

/** True for a name that leads to a model, by an alias or a provider, too. */
export function isModelName(name: string, { rules, isDeclared }: ModelNames): boolean {
  return (rules.stepsTo(name, isDeclared).at(-1)?.rule ?? 'alias') !== 'alias';
}
