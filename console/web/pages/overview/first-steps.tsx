// Three steps for whoever starts: protect an application, see an attack blocked, make it one's own. Gone once they are
// done, or put away.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card } from '../../kit/basics.js';

const kept = 'gatehouse.first-steps';

function Step(props: {
  readonly isDone: boolean;
  readonly title: string;
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <li>
      <div>
        <div class="row">
          <strong>{props.title}</strong>
          <Show when={props.isDone}>
            <Badge tone="good">done</Badge>
          </Show>
        </div>
        <p class="muted">{props.children}</p>
      </div>
    </li>
  );
}

export function FirstSteps(props: { readonly hasBlocked: boolean }): JSX.Element {
  const [isAway, setAway] = createSignal(localStorage.getItem(kept) === 'away');
  const settings = createQuery('GET /api/settings');
  const versions = createQuery('GET /api/config/versions', () => ({ query: { limit: 2 } }));
  const hasSites = (): boolean =>
    ((settings.data() as { readonly sites?: unknown[] } | undefined)?.sites?.length ?? 0) > 0;
  const hasChanged = (): boolean => (versions.data()?.items.length ?? 0) > 1;
  const isDone = (): boolean => hasSites() && props.hasBlocked && hasChanged();
  const putAway = (): void => {
    localStorage.setItem(kept, 'away');
    setAway(true);
  };
  return (
    <Show when={!isAway() && settings.data() !== undefined && versions.data() !== undefined && !isDone()}>
      <Card
        title="Three steps to start"
        actions={
          <Button look="plain" isSmall onClick={putAway}>
            Put away
          </Button>
        }
      >
        <ol class="steps">
          <Step isDone={hasSites()} title="Protect your application">
            Say where it answers under <A href="/admin/settings/sites">Settings, Sites</A>. Until then the bundled demo
            shop stands behind the firewall.
          </Step>
          <Step isDone={props.hasBlocked} title="See an attack blocked">
            Send one to the protected port, such as <code>/search?q=1' OR '1'='1</code>, and find it under{' '}
            <A href="/soc">Security events</A> with every rule that saw it.
          </Step>
          <Step isDone={hasChanged()} title="Make a change and apply it">
            Save a setting, look at what it would have done to recorded traffic, and activate it under{' '}
            <A href="/admin/changes">Changes</A>. Every version can be brought back.
          </Step>
        </ol>
      </Card>
    </Show>
  );
}
