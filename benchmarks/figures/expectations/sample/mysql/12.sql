SELECT Title, Pages DIV 25 FROM books WHERE Language = 'English' AND `group` = 'Teen'
