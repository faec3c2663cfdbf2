import { Empty } from '../../parts/parts.tsx';

export function SchedulesPage() {
  return <Empty title="Schedules are not here yet" command="gateway schedules list" />;
}
