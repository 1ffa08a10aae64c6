// Clients: everything that was decided about them by any source, in one list, and one dialog that decides.
import { Show, type JSX } from 'solid-js';
import { mayAs } from '../../client/session.js';
import { createAsked } from '../../kit/asked.js';
import { Button, PageHead } from '../../kit/basics.js';
import { measuresText as text } from '../../texts/resources/measures.js';
import { BlockDialog } from './block-dialog.js';
import { Measures } from './measures.js';

export function Addresses(): JSX.Element {
  const [isAdding, setAdding] = createAsked('add');
  let reload = (): void => undefined;
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Show when={mayAs('operator')}>
          <Button look="primary" icon="ban" onClick={() => setAdding(true)}>
            {text.block}
          </Button>
        </Show>
      </PageHead>
      <Measures onList={(again) => (reload = again)} />
      <Show when={mayAs('operator')}>
        <BlockDialog isOpen={isAdding()} onClose={() => setAdding(false)} onDone={() => reload()} />
      </Show>
    </>
  );
}
