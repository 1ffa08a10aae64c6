// The page that lets a browser prove that it is one. It works in a moment by itself: a script does the work and comes
// back; without scripts the page comes back by itself after some seconds. Nothing is loaded; the policy of the page
// allows its one script and its one style by their hashes, so that no policy of the site stands in the way.
import { createHash } from 'node:crypto';
import { waitMs } from './tokens.js';

/**
 * Runs in the browser, as old as ten years. SHA-256 (FIPS 180-4) is written out, because crypto.subtle is there on
 * https only; work is done in pieces, so that the page stays alive.
 */
const script = `(function(){
var m=document.querySelector('main'),t=m.getAttribute('data-token'),b=+m.getAttribute('data-bits');
var next=m.getAttribute('data-next'),k=[],h=[],p=2,i,n=0;
function part(x){return (x-Math.floor(x))*4294967296|0}
for(;k.length<64;p++){for(i=2;i*i<=p&&p%i;i++);
if(i*i>p){if(h.length<8)h.push(part(Math.sqrt(p)));k.push(part(Math.pow(p,1/3)))}}
var w=new Int32Array(64);
function zeros(s){
var a=h.slice(),l=s.length,blocks=(l+9+63>>6),q,j;
for(q=0;q<blocks;q++){
for(j=0;j<16;j++){var v=0;for(i=0;i<4;i++){var at=q*64+j*4+i;v=v<<8|(at<l?s.charCodeAt(at):at===l?128:0)}w[j]=v}
if(q===blocks-1)w[15]=l*8;
for(j=16;j<64;j++){var x=w[j-15],y=w[j-2];
w[j]=w[j-16]+w[j-7]+((x>>>7|x<<25)^(x>>>18|x<<14)^x>>>3)+((y>>>17|y<<15)^(y>>>19|y<<13)^y>>>10)|0}
var A=a[0],B=a[1],C=a[2],D=a[3],E=a[4],F=a[5],G=a[6],H=a[7];
for(j=0;j<64;j++){
var e=H+((E>>>6|E<<26)^(E>>>11|E<<21)^(E>>>25|E<<7))+((E&F)^(~E&G))+k[j]+w[j]|0;
var f=((A>>>2|A<<30)^(A>>>13|A<<19)^(A>>>22|A<<10))+((A&B)^(A&C)^(B&C))|0;
H=G;G=F;F=E;E=D+e|0;D=C;C=B;B=A;A=e+f|0}
a[0]=a[0]+A|0;a[1]=a[1]+B|0;a[2]=a[2]+C|0;a[3]=a[3]+D|0;
a[4]=a[4]+E|0;a[5]=a[5]+F|0;a[6]=a[6]+G|0;a[7]=a[7]+H|0}
var z=0;for(j=0;j<8;j++){var d=a[j]>>>0;if(d===0){z+=32;continue}while(!(d&2147483648)){z++;d=d<<1>>>0}break}
return z}
function work(){var end=n+2000;for(;n<end;n++)
if(zeros(t+'.'+n)>=b){location.replace(next+'&n='+n);return}setTimeout(work,0)}
work()})()`;

const css = [
  ':root{color-scheme:light dark;--ink:#1c2430;--paper:#f5f3ee;--card:#fff;--line:#8a8474}',
  '@media (prefers-color-scheme:dark){:root{--ink:#e9e6df;--paper:#14181e;--card:#1c222b;--line:#7c8794}}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--paper);' +
    'color:var(--ink);font:1rem/1.6 system-ui,sans-serif}',
  'main{max-width:34rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:2rem}',
  'h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}',
  'a{color:inherit}',
].join('');

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Of the page: its own policy, and kept by nobody. */
export const pageFields: readonly string[] = [
  'Content-Type',
  'text/html; charset=utf-8',
  'Content-Security-Policy',
  `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src ${hashOf(script)}; ` +
    `style-src ${hashOf(css)}`,
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'same-origin',
];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] as string);

export interface ChallengePage {
  readonly challenge: string;
  readonly bits: number;
  /** Where the answer goes, without the answer. */
  readonly answerUrl: string;
  /** What was asked for cannot be asked again by itself (a form). */
  readonly isForm: boolean;
}

const formNote = '<p>What you sent has not been delivered. Please send it once more afterwards.</p>\n';

/** Latin1; 4 KB. */
export function renderChallenge({ challenge, bits, answerUrl, isForm }: ChallengePage): string {
  const waited = escape(`${answerUrl}&w=1`);
  const seconds = Math.ceil(waitMs / 1000) + 1;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>One moment, please</title>
<style>${css}</style>
<noscript><meta http-equiv="refresh" content="${seconds};url=${waited}"></noscript>
</head>
<body>
<main data-token="${escape(challenge)}" data-bits="${bits}" data-next="${escape(answerUrl)}">
<h1>One moment, please</h1>
<p role="status">This site checks that a browser is asking, and not a program. Nothing has to be done: the page opens \
by itself.</p>
${isForm ? formNote : ''}<noscript><p>Without \
scripts this takes ${seconds} seconds. Afterwards you can also <a href="${waited}">go on here</a>.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`;
}
