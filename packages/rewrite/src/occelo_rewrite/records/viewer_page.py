"""The HTML page of `view_rewriting`: one text, with ``__DATA__`` in place of the steps.

The page holds what each step changed, and computes the graph of a step from that. It loads nothing from elsewhere.
"""

from __future__ import annotations

PAGE = r"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Rewriting, step by step</title>
<style>
:root{--ink:#1b2733;--quiet:#51606e;--back:#fbfcfd;--pane:#fff;--edge:#d3dce4;--gone:#fde3df;--made:#d8f1de}
@media(prefers-color-scheme:dark){:root{--ink:#e4eaf0;--quiet:#a5b3c0;--back:#14191e;--pane:#1b2229;--edge:#36424d;--gone:#5a2b28;--made:#1f4a2c}}
body{font:15px/1.5 system-ui,sans-serif;margin:1em;color:var(--ink);background:var(--back)}
h1{font-size:1.2em;margin:0 0 .4em}
h2{font-size:.95em;margin:.2em 0;color:var(--quiet)}
.bar{display:flex;flex-wrap:wrap;gap:.5em;align-items:center}
.bar input[type=range]{flex:1 1 12em}
button,select,input[type=search]{font:inherit;color:inherit;background:var(--pane);border:1px solid var(--edge);border-radius:6px;padding:.2em .6em}
#step{margin:.5em 0;min-height:5.5em}
#rule{font-weight:600}
.quiet{color:var(--quiet)}
code,pre{font:13px/1.5 ui-monospace,monospace}
.panes{display:grid;grid-template-columns:1fr 1fr;gap:1em}
@media(max-width:700px){.panes{grid-template-columns:1fr}body{margin:.6em}}
pre{background:var(--pane);border:1px solid var(--edge);border-radius:6px;padding:.6em;overflow:auto;margin:0;max-height:60vh}
pre div{white-space:pre-wrap;overflow-wrap:anywhere;padding-left:2em;text-indent:-2em}
.gone{background:var(--gone)}.made{background:var(--made)}
input[aria-invalid=true]{background:var(--gone)}
</style></head><body>
<main>
<h1>Rewriting, step by step</h1>
<div class="bar">
<button id="back" aria-label="previous step">&larr;</button><button id="next" aria-label="next step">&rarr;</button>
<input id="at" type="range" min="0" value="0" aria-label="step">
<select id="stages" aria-label="jump to a stage"></select>
<input id="search" type="search" placeholder="search steps" aria-label="search steps">
</div>
<div id="step" aria-live="polite"><span id="count" class="quiet"></span> <span id="rule"></span> <span class="quiet" id="stage"></span>
<div id="law"></div><div class="quiet"><span id="place"></span> <code id="text"></code></div><div><code id="change"></code></div></div>
<div class="panes"><section><h2>before</h2><pre id="before" tabindex="0"></pre></section>
<section><h2>after</h2><pre id="after" tabindex="0"></pre></section></div>
<h2>inputs</h2><pre id="inputs" tabindex="0"></pre>
<p class="quiet">Keys: left and right for steps, page up and down for stages, home and end.
In the search, enter goes to the next step that has the text.</p>
</main>
<script>
const data=__DATA__;
const steps=data.steps,$=id=>document.getElementById(id),at=$("at");
at.max=steps.length-1;
// the graph after step i: its lines by number, and its outputs
let reached=-1,lines=new Map(),outputs=[];
function forward(){
  const s=steps[++reached];
  for(const n of s.gone)lines.delete(n);
  for(const n in s.lines)lines.set(+n,s.lines[n]);
  if(s.outputs)outputs=s.outputs;
}
function texts(i){
  if(i<reached){reached=-1;lines=new Map();outputs=[]}
  while(reached<i)forward();
  const order=[],state=new Map();
  const pending=outputs.filter(Array.isArray).map(o=>o[0]).reverse();
  while(pending.length){
    const n=pending[pending.length-1];
    if(state.has(n)){pending.pop();if(state.get(n)===1){state.set(n,2);order.push(n)}continue}
    state.set(n,1);
    const inner=lines.get(n)[3];
    for(let k=inner.length-1;k>=0;k--)if(Array.isArray(inner[k])&&!state.has(inner[k][0]))pending.push(inner[k][0]);
  }
  const name=a=>{
    if(!Array.isArray(a))return a;
    const l=lines.get(a[0]);
    return l[0][a[1]]||(l[1].length>1?`n${a[0]}.${a[1]}`:`n${a[0]}`);
  };
  const shown=order.map(n=>{
    const [names,types,op,inner]=lines.get(n);
    const results=types.map((t,k)=>`${name([n,k])}: ${t}`).join(", ");
    return `${results} = ${op}(${inner.map(name).join(", ")})`;
  });
  shown.push("return "+outputs.map(name).join(", "));
  return shown;
}
function fill(id,shown,other,cls){
  const known=new Set(other),pre=$(id);pre.replaceChildren();
  let first=null;
  for(const text of shown){
    const line=document.createElement("div");line.textContent=text;
    if(!known.has(text)){line.className=cls;first=first||line}
    pre.append(line);
  }
  pre.scrollTop=first?Math.max(0,first.offsetTop-pre.offsetTop-pre.clientHeight/3):0;
}
function show(){
  const i=+at.value,s=steps[i],before=texts(Math.max(0,i-1)),after=texts(i);
  $("count").textContent=`${i} / ${steps.length-1}`;
  $("rule").textContent=s.rule;$("stage").textContent=s.stage||"";
  $("law").textContent=data.laws[s.rule]||"";
  $("place").textContent=s.place||"";$("text").textContent=s.text||"";
  $("change").textContent=s.before?`${s.before} \u2192 ${s.after}`:"";
  $("stages").selectedIndex=starts.findLastIndex(k=>k<=i);
  fill("before",before,after,"gone");fill("after",after,before,"made");
}
function go(i){at.value=Math.min(Math.max(i,0),steps.length-1);show()}
const starts=[];
steps.forEach((s,i)=>{if(i===0||s.stage!==steps[i-1].stage)starts.push(i)});
for(const i of starts){
  const option=document.createElement("option");
  option.textContent=steps[i].stage||steps[i].rule;
  $("stages").append(option);
}
$("stages").addEventListener("change",e=>go(starts[e.target.selectedIndex]));
$("back").addEventListener("click",()=>go(+at.value-1));
$("next").addEventListener("click",()=>go(+at.value+1));
at.addEventListener("input",show);
const searched=s=>[s.rule,s.stage,data.laws[s.rule],s.before,s.after,s.place,s.text].join(" ").toLowerCase();
$("search").addEventListener("keydown",e=>{
  if(e.key!=="Enter")return;
  const text=e.target.value.toLowerCase(),n=steps.length;
  let found=false;
  for(let k=1;k<=n&&!found;k++){const i=(+at.value+k)%n;if((found=searched(steps[i]).includes(text)))go(i)}
  e.target.setAttribute("aria-invalid",!found);
});
document.addEventListener("keydown",e=>{
  if(["INPUT","SELECT"].includes(e.target.tagName)&&e.target!==at)return;
  const i=+at.value;
  const to={ArrowLeft:()=>i-1,ArrowRight:()=>i+1,Home:()=>0,End:()=>steps.length-1,
    PageDown:()=>starts.find(k=>k>i)??steps.length-1,PageUp:()=>[...starts].reverse().find(k=>k<i)??0}[e.key];
  if(to){e.preventDefault();go(to())}
});
$("inputs").textContent=data.inputs.map(([n,t])=>`${n}: ${t}`).join("\n");
show();
</script></body></html>
"""
