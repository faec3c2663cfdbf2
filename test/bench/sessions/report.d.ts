interface Row {
  readonly measured: number | '-';
  readonly goal: string;
  readonly verdict: 'reached' | 'missed' | 'not measured';
}

export const FIGURES: Readonly<
  Record<'cpu' | 'answer' | 'rate' | 'one' | 'many' | 'begun', string>
>;
export function reportGoals(measured: Readonly<Record<string, number>>): Record<string, Row>;
