import { Empty } from '../../parts/parts.tsx';

export function ExplainPage() {
  return <Empty title="Explain are not here yet" command="gateway models explain MODEL" />;
}
