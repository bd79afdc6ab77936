# SPDX-License-Identifier: Apache-2.0
"""Completion for bash, zsh and fish: commands, options, values that are listed, views of `show`; elsewhere files."""
from __future__ import annotations

from command_line import Command, Option

HEAD = '# SPDX-License-Identifier: Apache-2.0\n# Made by tools/reference/manual.py from what the program says of itself.\n'


def path_of(command: Command) -> str:
    return ' '.join(command.words[1:])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def takes_files(it: Option) -> bool:
    return it.kind == 'TEXT' and not it.choices


def words_here(command: Command) -> dict[str, str]:
    """What may stand there beside options and files, and what it means."""
    listed = {it.words[-1]: it.description for it in command.commands}
    listed |= {choice: '' for it in command.positionals for choice in it.choices}
    return listed | {view.split()[0]: '' for view in command.views()}


def steps_of(program: Command) -> list[tuple[str, str, str]]:
    """(path, word, path after it): how the words of a line lead from command to command, and from view to view."""
    steps = [(path_of(command), it.words[-1], path_of(it)) for command in program.all() for it in command.commands]
    for command in program.all():
        for view in command.views():
            words = [path_of(command), *view.split()]
            steps += [(' '.join(words[:n]), words[n], ' '.join(words[:n + 1])) for n in range(1, len(words))]
    return list(dict.fromkeys(steps))


def view_words(program: Command) -> dict[str, dict[str, str]]:
    """By path: the words that continue a view's name."""
    out: dict[str, dict[str, str]] = {}
    for path, word, _ in steps_of(program):
        out.setdefault(path, {})[word] = ''
    return out


def options_by_path(program: Command) -> dict[str, Command]:
    """Each path's command: a view's is that of `show`."""
    out = {path_of(command): command for command in program.all()}
    for path, _, after in steps_of(program):
        out.setdefault(after, out[path])
    return out


def all_words(program: Command) -> dict[str, dict[str, str]]:
    words = {path: dict(found) for path, found in view_words(program).items()}
    for command in program.all():
        words[path_of(command)] = words.get(path_of(command), {}) | words_here(command)
    return {path: found for path, found in words.items() if found}


def bash(program: Command) -> str:
    name = program.words[0]
    function = '_' + name.replace('-', '_')
    steps = ''.join(f'      {quoted(f"{path}:{word}")}) path={quoted(after)} ;;\n' for path, word, after in steps_of(program))
    values, skipped = '', []
    for path, command in options_by_path(program).items():
        for it in command.options:
            cases = '|'.join(quoted(f'{path}:{each}') for each in it.names)
            if it.choices:
                values += f'    {cases}) COMPREPLY=($(compgen -W {quoted(" ".join(it.choices))} -- "$cur")); return ;;\n'
            elif it.value:
                skipped.append(cases)
    offers = ''
    for path, command in options_by_path(program).items():
        names = ' '.join(each for it in command.options for each in it.names)
        words = ' '.join(all_words(program).get(path, {}))
        offers += f'    {quoted(path)}) options={quoted(names)} words={quoted(words)} ;;\n'
    step_case = f'    case "$path:$word" in\n{steps}    esac\n' if steps else '    :\n'
    file_case = f'    {"|".join(skipped)}) return ;;\n' if skipped else ''
    return (f'{HEAD}{function}() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path= word options= words=\n'
            f'  COMPREPLY=()\n  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do\n{step_case}  done\n'
            f'  case "$path:$prev" in\n{values}{file_case}  esac\n  case "$path" in\n{offers}  esac\n'
            f'  if [[ $cur == -* ]]; then words=$options; fi\n  COMPREPLY=($(compgen -W "$words" -- "$cur"))\n}}\n'
            f'complete -o default -F {function} {name}\n')


def zsh_option(it: Option) -> list[str]:
    if not it.value:
        action = ''
    elif it.choices:
        action = f':{it.kind.lower()}:({" ".join(it.choices)})'
    else:
        action = f':{it.kind.lower()}:' + ('_files' if takes_files(it) else ' ')
    text = it.description.replace('\\', '\\\\').replace('[', '\\[').replace(']', '\\]').replace(':', '\\:')
    return [quoted(f'{"*" if len(it.names) == 1 and it.value else ""}{each}[{text}]{action}') for each in it.names]


def zsh(program: Command) -> str:
    name = program.words[0]
    cases = ''
    for path, command in options_by_path(program).items():
        specs = ' '.join(spec for it in command.options for spec in zsh_option(it))
        found = all_words(program).get(path, {})
        if found:
            listed = ' '.join(quoted(word + (':' + text.replace(':', '\\:') if text else '')) for word, text in found.items())
            rest = f"'*:what:_{name.replace('-', '_')}_words'"
            cases += f'    {quoted(path)}) offered=({listed}); _arguments -s {specs} {rest} ;;\n'
        else:
            cases += f"    {quoted(path)}) _arguments -s {specs} '*:file:_files' ;;\n"
    function = '_' + name.replace('-', '_')
    return (f'#compdef {name}\n{HEAD}{function}_words() {{ (( $#offered )) && _describe what offered; }}\n'
            f'{function}() {{\n  local path_= word\n  local -a offered\n  for word in "${{(@)words[2,CURRENT-1]}}"; do\n'
            f'{zsh_steps(program)}'
            f'  done\n  case "$path_" in\n{cases}  esac\n}}\n{function} "$@"\n')


def zsh_steps(program: Command) -> str:
    steps = ''.join(f'      {quoted(f"{path}:{word}")}) path_={quoted(after)} ;;\n' for path, word, after in steps_of(program))
    return f'    case "$path_:$word" in\n{steps}    esac\n' if steps else '    :\n'


def fish(program: Command) -> str:
    name = program.words[0]
    function = '__' + name.replace('-', '_') + '_at'
    steps = ''.join(f'            case {quoted(f"{path}:{word}")}\n                set path {quoted(after)}\n' for path, word, after in steps_of(program))
    switch = f'        switch "$path:$word"\n{steps}        end\n' if steps else ''
    text = (f'{HEAD}function {function}\n    set -l path ""\n    for word in (commandline -opc)[2..-1]\n{switch}    end\n'
            f'    test "$path" = "$argv[1]"\nend\n')
    for path, command in options_by_path(program).items():
        condition = f'-n {quoted(f"{function} {quoted(path)}")}'
        found = all_words(program).get(path, {})
        if found:
            text += f'complete -c {name} -f {condition}\n'
        for word, meaning in found.items():
            text += f'complete -c {name} {condition} -a {quoted(word)}' + (f' -d {quoted(meaning)}' if meaning else '') + '\n'
        for it in command.options:
            names = ' '.join(f'-l {each[2:]}' if each.startswith('--') else f'-s {each[1:]}' for each in it.names)
            value = f' -x -a {quoted(" ".join(it.choices))}' if it.choices else ' -r' if takes_files(it) else ' -x' if it.value else ''
            text += f'complete -c {name} {condition} {names}{value} -d {quoted(it.description)}\n'
    return text
