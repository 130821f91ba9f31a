SELECT Title FROM Books WHERE TRANSLATE(Title, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') LIKE 'the %'
