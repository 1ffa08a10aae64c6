// A QR code as shapes that the browser draws: no markup is made of its text (ISO/IEC 18004, by uqr).
import { encode } from 'uqr';
import { createMemo, type JSX } from 'solid-js';

/** Light modules around the code, as the standard asks for. */
const quietModules = 4;

export function QrCode(props: { readonly text: string; readonly label: string }): JSX.Element {
  const code = createMemo(() => encode(props.text, { ecc: 'M', border: quietModules }));
  const path = createMemo(() =>
    code()
      .data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
      .join(''),
  );
  return (
    <svg class="qr" role="img" aria-label={props.label} viewBox={`0 0 ${code().size} ${code().size}`}>
      <path d={path()} />
    </svg>
  );
}
