use super::*;
use crate::classify::{Classified, Fault, NoHeaders, fault, http};
use crate::policy::{Percent, Script, ScriptLine, Stage, Window};
use crate::source::Span;
use crate::wire::chat::{Answered, Asked, PieceKind, StreamEnded, StreamReader, judge};

fn ask(stream: bool) -> ScriptedAsk<'static> {
    ScriptedAsk {
        stream,
        target: "north",
        model: "m-1",
        max_output: Some(100),
        prompt_tokens: 9,
        id: "c-1",
        ..Default::default()
    }
}

/// What a caller makes of a scripted answer; a stall is told apart, since only a timer ends it.
fn read(scripted: &Scripted, ask: &ScriptedAsk<'_>) -> Result<Answered, Option<Classified>> {
    let asked = Asked { stream: ask.stream, max_output: ask.max_output, choices: 1, ..Asked::default() };
    match &scripted.body {
        ScriptedBody::Reset => Err(Some(fault(Fault::ResetBeforeHeaders { sent: true }))),
        ScriptedBody::Hang => Err(None),
        ScriptedBody::Whole(body) if scripted.status >= 300 => {
            Err(Some(http::answer(scripted.status, &scripted.headers, body, 0)))
        }
        ScriptedBody::Whole(body) => judge(&scripted.headers, body, &asked, 0).map_err(Some),
        ScriptedBody::Stream { then: Then::Stalls, .. } => Err(None),
        ScriptedBody::Stream { events, then, .. } if !ask.stream => match then {
            Then::Cuts => Err(Some(fault(Fault::BodyReset { output: false }))),
            Then::Closes | Then::Stalls => judge(&NoHeaders, &events.concat(), &asked, 0).map_err(Some),
        },
        ScriptedBody::Stream { events, lead, then } => {
            let mut reader = StreamReader::new(asked);
            for (n, event) in events.iter().enumerate() {
                let kinds: Vec<_> = reader.push(event.clone()).map(|p| p.kind).collect();
                assert_eq!(kinds.len(), 1, "each event is one piece");
                assert!(n >= *lead || kinds == [PieceKind::Quiet], "the lead is quiet");
            }
            let how = if *then == Then::Cuts { StreamEnded::Reset } else { StreamEnded::Clean };
            reader.end(how).map_err(Some)
        }
    }
}

fn class_of(answer_: &Answer, stream: bool) -> Option<Class> {
    let ask = ask(stream);
    read(&answer(answer_, &ask), &ask).unwrap_err().map(|c| c.class)
}

#[test]
fn each_class_is_scripted_so_that_it_is_taken_for_that_class() {
    for class in Class::ALL.iter().copied() {
        for stream in [false, true] {
            let told = class_of(&Answer::Failure { class, retry_after: None }, stream);
            let wanted = match class {
                // Only a timer can tell.
                Class::TimeoutHeaders | Class::TimeoutFirstToken | Class::TimeoutIdle => None,
                // A whole answer is never partly forwarded.
                Class::PartialStream if !stream => Some(Class::Truncated),
                class => Some(class),
            };
            assert_eq!(told, wanted, "{class} stream {stream}");
        }
    }
}

#[test]
fn truncated_needs_no_limit_to_be_told() {
    for (stream, include_usage) in [(false, false), (true, false), (true, true)] {
        for max_output in [None, Some(1), Some(4_096)] {
            let ask = ScriptedAsk { max_output, include_usage, ..ask(stream) };
            let told = read(&answer(&Answer::Truncated, &ask), &ask).unwrap_err().unwrap();
            assert_eq!((told.class, told.stage), (Class::Truncated, Stage::Headers), "{ask:?}");
        }
    }
}

#[test]
fn plain_answers_are_complete_and_say_who_answers() {
    for stream in [false, true] {
        let ask = ScriptedAsk { include_usage: true, ..ask(stream) };
        let scripted = answer(&Answer::Ok { text: None }, &ask);
        let answered = read(&scripted, &ask).unwrap();
        assert_eq!(answered.model.as_deref(), Some("m-1"));
        assert_eq!(answered.usage.unwrap().input, 9);
        let bytes = match scripted.body {
            ScriptedBody::Whole(body) => body.to_vec(),
            ScriptedBody::Stream { events, .. } => {
                assert!(events.len() >= 6, "role, some words, reason, usage, end");
                events.concat()
            }
            ScriptedBody::Hang | ScriptedBody::Reset => panic!("an answer"),
        };
        assert!(String::from_utf8(bytes).unwrap().contains("north"));
    }
    let ask = ask(true);
    assert_eq!(read(&answer(&Answer::Ok { text: Some("a b".into()) }, &ask), &ask).unwrap().usage, None);
    let scripted = answer(&Answer::Ok { text: Some(String::new()) }, &ask);
    assert_eq!(read(&scripted, &ask).unwrap_err().unwrap().class, Class::EmptyResponse);
}

#[test]
fn statuses_carry_code_and_hint() {
    let status = |ms| Answer::Status { status: 429, retry_after: Some(Millis(ms)), code: Some("slow \"down\"".into()) };
    for ms in [30_000, 1_500, 1] {
        let ask = ask(true);
        let told = read(&answer(&status(ms), &ask), &ask).unwrap_err().unwrap();
        assert_eq!(
            (told.class, told.hint, told.code.as_deref()),
            (Class::RateLimit, Some(Millis(ms)), Some("slow \"down\""))
        );
    }
    let fine = Answer::Status { status: 200, retry_after: None, code: None };
    assert!(read(&answer(&fine, &ask(false)), &ask(false)).is_ok());
}

#[test]
fn streams_end_as_they_are_told_to() {
    let streams = |tokens, then| Answer::Streams { tokens, then };
    use StreamEnd::{Cuts, Ends, Errors, Stalls};
    for (then, stream, class) in [
        (Cuts, true, Some(Class::PartialStream)),
        (Ends, true, Some(Class::PartialStream)),
        (Errors, true, Some(Class::PartialStream)),
        (Stalls, true, None),
        (Cuts, false, Some(Class::Truncated)),
        (Ends, false, Some(Class::MalformedResponse)),
        (Errors, false, Some(Class::StreamEarly)),
        (Stalls, false, None),
    ] {
        assert_eq!(class_of(&streams(4, then), stream), class, "{then} stream {stream}");
    }
    for (then, class) in [(Cuts, Class::Truncated), (Ends, Class::Truncated), (Errors, Class::StreamEarly)] {
        assert_eq!(class_of(&streams(0, then), true), Some(class), "{then} before output");
    }
    let ScriptedBody::Stream { events, .. } = answer(&streams(5, Stalls), &ask(true)).body else { panic!("a stream") };
    assert_eq!(events.len(), 6);
}

fn line(window: Window, share: Option<u32>, status: u16, times: Option<u32>) -> ScriptLine {
    let answer = Answer::Status { status, retry_after: None, code: None };
    let share = share.map(Percent);
    ScriptLine { window, share, answer, after: Millis(u64::from(status)), times, span: Span::default() }
}

fn status_at(schedule: &mut Schedule, elapsed: u64, draw: u32) -> u16 {
    match schedule.next(Millis(elapsed), draw) {
        (Answer::Status { status, .. }, after) => {
            assert_eq!(after, Millis(u64::from(*status)));
            *status
        }
        (other, after) => {
            assert_eq!((other, after), (&Answer::Ok { text: None }, Millis(300)));
            200
        }
    }
}

#[test]
fn the_last_line_that_fits_answers() {
    let since = |ms| Window::Since(Millis(ms));
    let lines = vec![
        line(since(100), None, 401, None),
        line(Window::Between(Millis(200), Millis(300)), None, 402, None),
        line(since(250), Some(2_500), 403, None),
        line(since(250), None, 404, Some(2)),
    ];
    let mut schedule = Schedule::new(&Script { lines, repeats: None });
    assert_eq!(status_at(&mut schedule, 99, 0), 200);
    assert_eq!(status_at(&mut schedule, 100, 0), 401);
    assert_eq!(status_at(&mut schedule, 200, 0), 402);
    assert_eq!([250, 260].map(|t| status_at(&mut schedule, t, 999_999)), [404, 404]);
    assert_eq!(status_at(&mut schedule, 270, 249_999), 403);
    assert_eq!(status_at(&mut schedule, 270, 250_000), 402);
    assert_eq!(status_at(&mut schedule, 300, 250_000), 401);
}

#[test]
fn a_script_that_repeats_starts_its_time_and_its_counts_again() {
    let lines = vec![line(Window::Since(Millis(50)), None, 401, Some(1))];
    let mut schedule = Schedule::new(&Script { lines, repeats: Some(Millis(100)) });
    let found = [60, 70, 120, 150, 160, 355].map(|t| status_at(&mut schedule, t, 0));
    assert_eq!(found, [401, 200, 200, 401, 200, 401]);
}

fn call(at: u64, status: u16, times: Option<u32>) -> CallLine {
    let answer = Answer::Status { status, retry_after: None, code: None };
    CallLine { at: Millis(at), answer, after: Millis(5), times }
}

fn calls(script: &mut CallScript, now: &[u64]) -> Vec<u16> {
    let next = |now: &u64| match script.next(Millis(*now)) {
        Some((Answer::Status { status, .. }, _)) => *status,
        Some(_) | None => 0,
    };
    now.iter().map(next).collect()
}

#[test]
fn calls_are_answered_line_by_line_and_the_last_line_repeats() {
    let mut script = CallScript::new([call(0, 401, None), call(0, 402, Some(2)), call(0, 403, None)]);
    assert_eq!(calls(&mut script, &[0; 6]), [401, 402, 402, 403, 403, 403]);
    assert_eq!(calls(&mut CallScript::new([call(0, 401, Some(1))]), &[0, 9]), [401, 401]);
}

#[test]
fn lines_of_a_later_instant_take_over() {
    let mut script = CallScript::new([call(10, 401, None), call(30, 403, None), call(10, 402, None)]);
    assert_eq!(calls(&mut script, &[9, 10, 11, 12, 30, 31]), [0, 401, 402, 402, 403, 403]);
}
