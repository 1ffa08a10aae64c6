// libinjection's two questions, answered by the library that Debian's libmodsecurity3 carries (see libinjection.cc),
// with a gate in front of each: a necessary condition that is cheaper than crossing into native code.
//
// SQL injection. Gate: at least one byte outside [A-Za-z0-9_]. Without such a byte the tokenizer sees one context (the
// quoted ones are tried only for values that hold a quote) and at most two tokens, a number and a word. A single token
// is never a fingerprint, and number + word is on libinjection's list only for UNION, which its false-positive filter
// drops when nothing was folded away.
// Cross-site scripting. Gate: `<` or `=`. Tag, doctype and comment tokens begin with `<`; an attribute counts only
// together with its value, which begins after `=`. Plain attribute values count for nothing.
// Both are checked against libinjection's own answers in libinjection.test.ts.
//
// Debian 12 carries 3.9.2, whose only difference that we found from 3.10 is that ANY attribute `on…` counts as an event
// handler; 3.10 asks for the name of a known event. So after a "yes" the unknown names are blanked and the question is
// asked again. That can only turn yes into no.
import { nativeAddon } from './addon.js';

/**
 * Beginnings of the names of DOM events (3.10 compares beginnings, so `load` stands for `loadstart` too). Facts from
 * the DOM specifications.
 */
const eventPrefixes: ReadonlyMap<string, readonly string[]> = groupByFirst(
  `abort activate active addsourcebuffer addstream addtrack afterprint animationcancel animationend animationiteration
  animationstart audioend audioprocess audiostart autocomplete beforeactivate beforecopy beforecut beforeinput
  beforeload beforepaste beforeprint beforeunload beginevent blocked blur boundary bufferedamountlow cached cancel
  canplay change chargingchange chargingtimechange checking click close complete compositionend compositionstart
  compositionupdate connect contextmenu controllerchange copy cuechange cut dataavailable datachannel dblclick
  devicechange devicemotion deviceorientation dischargingtimechange disconnect domactivate domcharacterdatamodified
  domcontentloaded domfocusin domfocusout domnodeinserted domnoderemoved domsubtreemodified downloading drag drop
  durationchange emptied encrypted end enter error exit fetch finish focus formchange forminput gamepadconnected
  gamepaddisconnected gesturechange gestureend gesturescroll gesturestart gesturetap gotpointercapture hashchange
  icecandidate iceconnectionstatechange icegatheringstatechange inactive input install invalid keydown keypress
  keystatuseschange keyup languagechange leavepictureinpicture levelchange load lostpointercapture mark
  merchantvalidation message mousedown mouseenter mouseleave mousemove mouseout mouseover mouseup mousewheel mute
  negotiationneeded nexttrack nomatch noupdate obsolete offline online open orientationchange overconstrained
  overflowchanged pagehide pageshow paste pause payerdetailchange paymentauthorized paymentmethodchange
  paymentmethodselected play pointercancel pointerdown pointerenter pointerleave pointerlockchange pointerlockerror
  pointermove pointerout pointerover pointerup popstate previoustrack processorerror progress propertychange
  ratechange readystatechange rejectionhandled remove reset resize resourcetimingbufferfull result resume scroll
  search securitypolicyviolation seeked seeking select shippingaddresschange shippingcontactselected
  shippingmethodselected shippingoptionchange show signalingstatechange slotchange soundend soundstart sourceclose
  sourceended sourceopen speechend speechstart squeeze stalled start statechange stop storage submit success suspend
  textinput timeout timeupdate toggle tonechange touchcancel touchend touchforcechange touchmove touchstart track
  transitioncancel transitionend transitionrun transitionstart uncapturederror unhandledrejection unload unmute
  update upgradeneeded validatemerchant versionchange visibilitychange volumechange waiting webglcontextchanged
  webglcontextcreationerror webglcontextlost webglcontextrestored webkitanimationend webkitanimationiteration
  webkitanimationstart webkitbeforetextinserted webkitbeginfullscreen webkitcurrentplaybacktargetiswirelesschanged
  webkitendfullscreen webkitfullscreenchange webkitfullscreenerror webkitkey webkitmouseforce webkitneedkey
  webkitnetworkinfochange webkitplaybacktargetavailabilitychanged webkitpresentationmodechanged
  webkitregionoversetchange webkitremovesourcebuffer webkitsourceclose webkitsourceended webkitsourceopen
  webkitspeechchange webkittransitionend webkitwillreveal wheel write zoom`,
);

function groupByFirst(words: string): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const word of words.split(/\s+/)) {
    const first = word.charAt(0);
    groups.set(first, [...(groups.get(first) ?? []), word]);
  }
  return groups;
}

/** The SQLi gate: false only when libinjection certainly answers "no". */
export function mayBeSqli(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const byte = value.charCodeAt(at);
    if (byte >= 0x61 && byte <= 0x7a) continue; // a–z
    if (byte >= 0x30 && byte <= 0x39) continue; // 0–9
    if (byte >= 0x41 && byte <= 0x5a) continue; // A–Z
    if (byte !== 0x5f) return true; // _
  }
  return false;
}

/** The XSS gate: false only when libinjection certainly answers "no". */
export function mayBeXss(value: string): boolean {
  return value.includes('<') || value.includes('=');
}

/**
 * libinjection's fingerprint (1 to 5 characters) when `value` (latin1) looks like SQL injection, '' when it does not.
 * Throws NativeAddonMissing, or an error that names the missing package, on first use of an incomplete installation.
 */
export function detectSqli(value: string): string {
  if (!mayBeSqli(value)) return '';
  if (value.length < rememberedFrom || value.length > rememberedMax) return nativeAddon().sqli(value);
  if (value !== last.value) {
    last.fingerprint = nativeAddon().sqli(value);
    last.value = value;
  }
  return last.fingerprint;
}

/**
 * The answer for the long value that was asked about last: the planner asks, then the rule that wants the fingerprint,
 * and 64 KiB of quotes cost 13 ms each time. Short ones cost less than to compare them.
 */
const rememberedFrom = 1024;
const rememberedMax = 1_048_576;
const last = { value: '', fingerprint: '' };

/**
 * Whether libinjection takes `value` (latin1) for cross-site scripting in any of its five contexts. Throws as
 * `detectSqli`.
 */
export function detectXss(value: string): boolean {
  if (!mayBeXss(value) || !nativeAddon().xss(value)) return false;
  const blanked = blankUnknownHandlers(value);
  return blanked === value || nativeAddon().xss(blanked);
}

/** Bytes that may stand before an attribute's name: start of value, white space, / > = and the quotes. */
function endsName(byte: number): boolean {
  return (
    byte === 0x20 ||
    (byte >= 0x09 && byte <= 0x0d) ||
    byte === 0x2f ||
    byte === 0x3e ||
    byte === 0x3d ||
    byte === 0x22 ||
    byte === 0x27 ||
    byte === 0x60
  );
}

function isKnownEvent(lower: string, at: number): boolean {
  for (const name of eventPrefixes.get(lower.charAt(at)) ?? []) if (lower.startsWith(name, at)) return true;
  return false;
}

/** Replaces the `o` of every attribute-like name `on…` that is no DOM event; lengths and all other bytes stay. */
function blankUnknownHandlers(value: string): string {
  const lower = value.toLowerCase();
  let blanked = '';
  let copied = 0;
  for (let at = lower.indexOf('on'); at !== -1; at = lower.indexOf('on', at + 2)) {
    if ((at > 0 && !endsName(lower.charCodeAt(at - 1))) || isKnownEvent(lower, at + 2)) continue;
    blanked += `${value.slice(copied, at)}x`;
    copied = at + 1;
  }
  return copied === 0 ? value : blanked + value.slice(copied);
}
