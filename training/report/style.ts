/**
 * The only style sheet of the pages. Colours are variables, so figures follow light and dark alike; paper is light.
 * Contrast on the page background is at least 4.5:1 for text and lines in both schemes (tests/unit/training/report/style.test.ts).
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d5dae0; --panel: #f5f7f9;
  --blue: #0067a8; --vermilion: #bd4b00; --green: #00805c; --purple: #a2497f; --grey: #5f6b76;
  --good: #00694b; --bad: #a83200;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --ink: #e7ebef; --soft: #a3adb8; --line: #363d45; --panel: #1d2228;
    --blue: #62b6f2; --vermilion: #ff9357; --green: #3fcfa4; --purple: #e08fc0; --grey: #9aa6b2;
    --good: #4fd6ab; --bad: #ff9d76;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem;
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
p, li { max-width: 46rem; }
.sub, figcaption, .note { color: var(--soft); font-size: .875rem; }
.summary { background: var(--panel); border-left: 4px solid var(--blue); padding: .75rem 1rem; margin: 1rem 0; max-width: 50rem; }
.summary p { margin: .25rem 0 .6rem; }
.summary p:first-child { font-weight: 600; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: baseline; white-space: nowrap; }
td.number, th.number { text-align: right; }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; vertical-align: bottom; white-space: normal; min-width: 4.5rem; }
tbody th { font-weight: 400; position: sticky; left: 0; background: var(--page); }
tr.router th { font-weight: 600; }
tr.break td, tr.break th { border-top: 2px solid var(--line); }
.interval { color: var(--soft); }
.beats { color: var(--good); font-weight: 600; }
.is-worse { color: var(--bad); font-weight: 600; }
a { color: var(--blue); }
td.words { white-space: normal; min-width: 16rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.75rem 2rem; align-items: start; margin: 1rem 0; }
figure { margin: 0; min-width: 0; }
figure h3 { font-size: 1rem; margin: 0 0 .25rem; }
figure svg.plot { display: block; width: 100%; max-width: 30rem; height: auto; }
figure.wide { margin-top: 1.5rem; }
figure.wide svg.plot { max-width: 38rem; }
figcaption { margin-top: .4rem; max-width: 46rem; }
svg [aria-label$="grid"] { stroke: var(--line); stroke-opacity: 1; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .75rem 0; list-style: none; font-size: .875rem; }
.legend li { display: flex; align-items: center; gap: .4rem; }
details { margin: .5rem 0; }
summary { cursor: pointer; padding: .25rem 0; }
code { font-family: ui-monospace, monospace; font-size: .85em; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; font-size: .875rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .summary { border-left-color: #000; }
  h2, h3 { break-after: avoid; }
  figure, tr, .summary { break-inside: avoid; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem 1.5rem; }
  .scroll { overflow: visible; }
  table { font-size: 6.5pt; }
  th, td { padding: .15rem .4rem .15rem 0; white-space: normal; min-width: 0 !important; }
  .interval, tbody th { white-space: nowrap; }
  tbody th { position: static; }
  details::details-content { display: block; content-visibility: visible; height: auto; }
  a { color: inherit; text-decoration: none; }
  a.data { display: none; }
}
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } th, td { padding-right: .5rem; } }
`
