// Three steps for whoever starts: protect an application, see an attack blocked, make it one's own. Gone once they are
// done, or put away.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card } from '../../kit/basics.js';
import { overviewText as text } from '../../texts/overview.js';

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
            <Badge tone="good">{text.done}</Badge>
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
        title={text.threeStepsStart}
        actions={
          <Button look="plain" isSmall onClick={putAway}>
            {text.putAway}
          </Button>
        }
      >
        <ol class="steps">
          <Step isDone={hasSites()} title={text.protectYourApplication}>
            {text.sayWhereAnswersUnder}
            <A href="/admin/settings/sites">{text.settingsSites}</A>
            {text.untilThenBundledDemo}
          </Step>
          <Step isDone={props.hasBlocked} title={text.seeAttackBlocked}>
            {text.sendOneProtectedPort}
            <code>/search?q=1' OR '1'='1</code>
            {text.findUnder} <A href="/soc">{text.securityEvents}</A>
            {text.everyRuleSaw}
          </Step>
          <Step isDone={hasChanged()} title={text.makeChangeApply}>
            {text.saveSettingLookAt} <A href="/admin/changes">{text.changes}</A>
            {text.everyVersionCanBe}
          </Step>
        </ol>
      </Card>
    </Show>
  );
}
