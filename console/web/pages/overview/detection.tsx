// What the detection engine has decided over the clients of now, and findings of API abuse that nobody has looked at.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Figure } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { engineText as text } from '../../texts/engine/engine.js';
import { RungFigures } from '../engine/rung-figures.js';

const everyMs = 10_000;

export function Detection(): JSX.Element {
  const soc = createQuery('GET /api/ai/soc', () => ({}), { everyMs });
  const threats = createQuery('GET /api/api-threats', () => ({ query: { status: 'open', limit: 1 } }), { everyMs });
  return (
    <Card
      title={text.overviewTitle}
      actions={
        <Show
          when={soc.data()?.enabled === false}
          fallback={<Show when={soc.data()}>{(data) => <Badge>{text.actionNames[data().action]}</Badge>}</Show>}
        >
          <span class="small muted">
            {text.off}. <A href="/admin/settings/engine#ai_enabled">{text.switchOn}</A>
          </span>
        </Show>
      }
    >
      <div class="figures-narrow">
        <Show when={soc.data()?.enabled !== false}>
          <Read of={soc}>{(data) => <RungFigures of={data()} />}</Read>
        </Show>
        <Read of={threats}>
          {(data) => (
            <Figure
              label={text.threatsOpen}
              value={showCount(data().total)}
              note={text.threatsOpenNote}
              href="/inventory/threats?status=open"
            />
          )}
        </Read>
      </div>
    </Card>
  );
}
