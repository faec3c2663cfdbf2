import { Empty } from '../../parts/parts.tsx';

export function PlaygroundPage() {
  return <Empty title="Playground are not here yet" command="gateway chat MODEL" />;
}
