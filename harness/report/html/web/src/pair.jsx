// One pair: the question, both texts, and the rows on every engine.
import { useState } from "preact/hooks";
import { Badge, Engine } from "./badge.jsx";
import { usePrinting } from "./list.jsx";
import { Plans } from "./plans.jsx";
import { Copy } from "./taking.jsx";
import { Facts, Failure, Results, TwoTexts } from "./sides.jsx";
import { Witness } from "./witness.jsx";
import { ENGINES, count, typeName, visible } from "./words.js";

function Steps({ place, all, back, step }) {
  return (
    <nav class="steps" aria-label="Pairs of the list">
      <a href={back}>← List</a>
      <span>
        <button class="plain" disabled={place === 0 || all === 0} onClick={() => step(-1)} title="Previous (k)">
          Previous
        </button>
        <button class="plain" disabled={place === all - 1 || all === 0} onClick={() => step(1)} title="Next (j)">
          Next
        </button>
        <span class="note">{place < 0 ? "not in the list" : `${count(place + 1)} of ${count(all)}`}</span>
      </span>
    </nav>
  );
}

export function Question({ data, question }) {
  const { questions } = data;
  return (
    <>
      <p class="about">
        <span class="key">{visible(questions.key[question])}</span> {visible(data.databases[questions.db[question]])} · {data.difficulties[questions.difficulty[question]]}
        {questions.types[question].map((type) => ` · ${typeName(data.types[type])}`)}
      </p>
      <div class="titled">
        <h1>{visible(questions.text[question]) || <span class="null">The question's text was not recorded</span>}</h1>
        {questions.text[question] && <Copy text={questions.text[question]} what="the question" />}
      </div>
      {questions.evidence[question] && (
        <p class="evidence">
          <strong>Evidence</strong> {visible(questions.evidence[question])}
        </p>
      )}
    </>
  );
}

// The outcomes of all predictors on this question.
function Everybody({ data, pair, address }) {
  const question = data.pairs.question[pair];
  const rows = data.predictors
    .map((name, predictor) => [name, data.cells.get(predictor * data.questions.key.length + question)])
    .filter(([, found]) => found);
  if (rows.length < 2) return null;
  return (
    <section aria-labelledby="everybody">
      <h2 id="everybody">All predictors on this question</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Outcomes of all predictors">
        <table class="everybody">
          <thead>
            <tr>
              <th scope="col">predictor</th>
              {data.ran.map((engine) => (
                <th scope="col">
                  <Engine engine={data.dialects[engine]} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, found]) => (
              <tr>
                <th scope="row">{visible(name)}</th>
                {data.ran.map((engine) => found[engine]).map((each) => (
                  <td>
                    {each < 0 ? (
                      <span class="null">–</span>
                    ) : (
                      <a href={address(each)} aria-current={each === pair ? "true" : undefined}>
                        <Badge outcome={data.outcome(each)} />
                      </a>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function Pair({ data, listed, pair, step, address, back }) {
  const [isFormatted, setFormatted] = useState(true);
  const isPrinting = usePrinting();
  if (pair < 0)
    return (
      <div class="page">
        <h1>No such pair</h1>
        <p>
          This run has no pair at this address. <a href={back}>All pairs</a>
        </p>
      </div>
    );
  const { pairs, details } = data;
  const engine = data.dialects[pairs.dialect[pair]];
  const engines = data.engines(pair).filter((each) => each >= 0);
  const predictor = visible(data.predictors[pairs.predictor[pair]]);
  return (
    <article class="page">
      <Steps place={listed.indexOf(pair)} all={listed.length} back={back} step={step} />
      <Question data={data} question={pairs.question[pair]} />
      <nav class="engines" aria-label={`${predictor} on every engine`}>
        <strong>{predictor}</strong>
        {engines.map((each) => (
          <a href={address(each)} aria-current={each === pair ? "page" : undefined}>
            <Engine engine={data.dialects[pairs.dialect[each]]} /> <Badge outcome={data.outcome(each)} />
          </a>
        ))}
      </nav>
      {!details ? (
        <p role="status">Unpacking texts and rows …</p>
      ) : (
        <>
          <Failure data={data} pair={pair} />
          <Facts data={data} pair={pair} />
          <section aria-labelledby="sql">
            <div class="titled">
              <h2 id="sql">SQL on {ENGINES[engine]}</h2>
              <label class="controls">
                <input type="checkbox" checked={isFormatted} onChange={(event) => setFormatted(event.target.checked)} /> formatted
              </label>
            </div>
            <TwoTexts
              details={details}
              isFormatted={isFormatted}
              one={{ title: "Gold", place: details.gold[pair], dialect: engine, absent: "Gold's text was not recorded.", label: "Gold" }}
              other={{ title: "Prediction", place: details.sql[pair], dialect: engine, absent: "There is no prediction.", label: "Prediction" }}
            />
          </section>
          <section aria-labelledby="rows">
            <h2 id="rows">Rows on {ENGINES[engine]}</h2>
            <p class="note">Up to eight rows per side. − only in gold, + only in the prediction.</p>
            <section aria-label={ENGINES[engine]}>
              <Results data={data} pair={pair} isWide />
            </section>
            {engines
              .filter((each) => each !== pair)
              .map((each) => (
                <details class="other-engine" open={isPrinting}>
                  <summary>
                    <Engine engine={data.dialects[pairs.dialect[each]]} /> <Badge outcome={data.outcome(each)} />
                  </summary>
                  <section aria-label={ENGINES[data.dialects[pairs.dialect[each]]]}>
                    <Failure data={data} pair={each} />
                    <Results data={data} pair={each} isWide />
                  </section>
                </details>
              ))}
          </section>
          <Witness data={data} pair={pair} />
          <Plans data={data} pair={pair} />
        </>
      )}
      <Everybody data={data} pair={pair} address={address} />
    </article>
  );
}
